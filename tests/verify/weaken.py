#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which memory orders Herlihy and Shavit's algorithms need: `duress verify --model rc11 --weaken` on examples.

Expected is, for each operation of the source, the weakest order that is enough while all others are seq_cst, and what
is found with less. The reasons are those of the textbooks: what leaves a critical section releases, what enters it
acquires; Peterson's flags and victim must not pass each other (nor the filter's levels and victims, nor the
bakery's choosing and numbers); what makes a node reachable releases, what follows a link to it acquires. A queue's tail
must not be seen before the link that it stands for, nor its head before the tail: deq would find null behind a node. It
is true of one order at a time, and of these programs: where another operation on the way synchronises anyway, relaxed
is enough.
Some examples: of MCS, who says that it waits (locked) is seen through the release of next; of the elimination stack, a
popper that was answered has also read the slot that the pusher emptied, so either of the two may be relaxed. head's
compare-and-swap may be relaxed because whoever reads it has a seq_cst load, which comes after the dequeuer's own
seq_cst loads of head
in the order of all seq_cst operations.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness  # noqa: E402

# By program, how many executions it has as it is; then of each operation the text of the line, its kind, the weakest
# order that is enough, what is found with less.
# fmt: off
EXPECTED = {
    "array_lock": (2, [
        ("slot[me] = tail.fetch_add(1) % THREADS;", "update", "relaxed", ""),
        ("while (!open[slot[me]]) {", "load", "acquire", "data race on counter"),
        ("open[slot[me]] = false;", "store", "relaxed", ""),
        ("open[(slot[me] + 1) % THREADS] = true;", "store", "release", "data race on counter"),
    ]),
    "bakery": (25, [
        ("choosing[me] = true;", "store", "seq_cst", "data race on counter"),
        ("number[me] = number[other] + 1;", "store", "seq_cst", "data race on counter"),
        ("number[me] = number[other] + 1;", "load", "seq_cst", "data race on counter"),
        ("choosing[me] = false;", "store", "release", "data race on counter"),
        ("while (choosing[other]) {", "load", "seq_cst", "data race on counter"),
        ("int his = number[other];", "load", "acquire", "data race on counter"),
        ("if (his == 0 || his > number[me] || (his == number[me] && other > me)) return;", "load", "relaxed", ""),
        ("if (his == 0 || his > number[me] || (his == number[me] && other > me)) return;", "load", "relaxed", ""),
        ("void unlock(int me) { number[me] = 0; }", "store", "release", "data race on counter"),
    ]),
    "bounded_queue": (24, [
        ("while (size_ == kCapacity) not_full_.wait(guard);", "load", "relaxed", ""),
        ("tail_->next = node;", "store", "relaxed", ""),
        ("was_empty = size_.fetch_add(1) == 0;", "update", "release", "SIGSEGV (Segmentation fault)"),
        ("while (size_ == 0) not_empty_.wait(guard);", "load", "acquire", "SIGSEGV (Segmentation fault)"),
        ("Node* first = head_->next;", "load", "relaxed", ""),
        ("was_full = size_.fetch_sub(1) == kCapacity;", "update", "relaxed", ""),
    ]),
    "clh_lock": (2, [
        ("mine[me]->locked = true;", "store", "relaxed", ""),
        ("before[me] = tail.exchange(mine[me]);", "update", "acq_rel", "data race on counter"),
        ("while (before[me]->locked) {", "load", "acquire", "data race on counter"),
        ("mine[me]->locked = false;", "store", "release", "data race on counter"),
    ]),
    "coarse_list": (3, []),
    "elimination_stack": (49, [
        ("Offer* other = slot_;", "load", "relaxed", ""),
        ("offer.answer.store(&offer.none);", "store", "relaxed", ""),
        ("if (!slot_.compare_exchange_strong(other, &offer)) return false;", "compare-exchange", "release", "data race on Exchanger::Offer::item"),
        ("if (offer.answer != &offer.none) break;", "load", "relaxed", ""),
        ("if (slot_.compare_exchange_strong(here, nullptr)) return false;", "compare-exchange", "relaxed", ""),
        ("while (offer.answer == &offer.none) {", "load", "relaxed", ""),
        ("*mine = offer.answer;", "load", "relaxed", ""),
        ("if (!slot_.compare_exchange_strong(other, nullptr)) return false;", "compare-exchange", "relaxed", ""),
        ("other->answer = *mine;", "store", "relaxed", ""),
        ("Node* old = top_;", "load", "relaxed", ""),
        ("if (top_.compare_exchange_strong(old, node)) return;", "compare-exchange", "release", "data race on Node::next"),
        ("Node* old = top_;", "load", "acquire", "data race on Node::next"),
        ("if (old != nullptr && top_.compare_exchange_strong(old, old->next)) return old->value;", "compare-exchange", "relaxed", ""),
    ]),
    "filter": (7, [
        ("if (k != me && level[k] >= at) return true;", "load", "seq_cst", "data race on counter"),
        ("level[me] = i;", "store", "seq_cst", "data race on counter"),
        ("victim[i] = me;", "store", "seq_cst", "data race on counter"),
        ("while (victim[i] == me && somebody(me, i)) {", "load", "relaxed", ""),
        ("void unlock(int me) { level[me] = 0; }", "store", "release", "data race on counter"),
    ]),
    "fine_list": (2, []),
    "lazy_list": (11, [
        ("if (pred->marked || node->marked) return false;", "load", "relaxed", ""),
        ("if (pred->marked || node->marked) return false;", "load", "relaxed", ""),
        ("return pred->next == node;", "load", "relaxed", ""),
        ("Node* node = pred->next;", "load", "relaxed", ""),
        ("node = node->next;", "load", "relaxed", ""),
        ("pred->next = fresh;", "store", "release", "data race on Node::key"),
        ("Node* node = pred->next;", "load", "relaxed", ""),
        ("node = node->next;", "load", "relaxed", ""),
        ("node->marked = true;", "store", "relaxed", ""),
        ("pred->next = node->next.load();", "store", "relaxed", ""),
        ("pred->next = node->next.load();", "load", "relaxed", ""),
        ("while (node->key < key) node = node->next;", "load", "acquire", "data race on Node::key"),
        ("return node->key == key && !node->marked;", "load", "relaxed", ""),
        ("while (node != nullptr && node != wanted) node = node->next;", "load", "relaxed", ""),
        ("list.head.next = &one;", "store", "relaxed", ""),
    ]),
    "lock_free_list": (17, [
        ("Node* node = node_of(pred->next);", "load", "acquire", "data race on Node::key"),
        ("std::uintptr_t next = node->next;", "load", "relaxed", ""),
        ("again = !pred->next.compare_exchange_strong(expected, link_to(node_of(next)));", "compare-exchange", "relaxed", ""),
        ("if (pred->next.compare_exchange_strong(expected, link_to(fresh))) return true;", "compare-exchange", "release", "data race on Node::key"),
        ("std::uintptr_t next = node->next;", "load", "relaxed", ""),
        ("if (marked(next) || !node->next.compare_exchange_strong(next, next | 1)) continue;", "compare-exchange", "relaxed", ""),
        ("pred->next.compare_exchange_strong(expected, next);", "compare-exchange", "relaxed", ""),
        ("while (node->key < key) node = node_of(node->next);", "load", "relaxed", ""),
        ("return node->key == key && !marked(node->next);", "load", "relaxed", ""),
        ("list.tail.next = link_to(nullptr);", "store", "relaxed", ""),
        ("list.head.next = link_to(&list.tail);", "store", "relaxed", ""),
    ]),
    "lock_free_queue": (60, [
        ("Node* last = tail_;", "load", "relaxed", ""),
        ("Node* next = last->next;", "load", "relaxed", ""),
        ("if (last != tail_) continue;", "load", "relaxed", ""),
        ("} else if (last->next.compare_exchange_strong(next, node)) {", "compare-exchange", "release", "data race on Node::value"),
        ("tail_.compare_exchange_strong(last, node);", "compare-exchange", "release", "SIGSEGV (Segmentation fault)"),
        ("Node* first = head_;", "load", "acquire", "SIGSEGV (Segmentation fault)"),
        ("Node* last = tail_;", "load", "acquire", "SIGSEGV (Segmentation fault)"),
        ("Node* next = first->next;", "load", "acquire", "data race on Node::value"),
        ("if (first != head_) continue;", "load", "relaxed", ""),
        ("tail_.compare_exchange_strong(last, next);", "compare-exchange", "relaxed", ""),
        ("if (head_.compare_exchange_strong(first, next)) return value;", "compare-exchange", "relaxed", ""),
    ]),
    "mcs_lock": (10, [
        ("Node* before = tail.exchange(node);", "update", "acquire", "data race on counter"),
        ("node->locked = true;", "store", "relaxed", ""),
        ("before->next = node;", "store", "release", "livelock: threads go on running and nothing changes"),
        ("while (node->locked) {", "load", "acquire", "data race on counter"),
        ("if (node->next == nullptr) {", "load", "relaxed", ""),
        ("if (tail.compare_exchange_strong(last, nullptr)) return;", "compare-exchange", "release", "data race on counter"),
        ("while (node->next == nullptr) {", "load", "relaxed", ""),
        ("node->next.load()->locked = false;", "load", "relaxed", ""),
        ("node->next.load()->locked = false;", "store", "release", "data race on counter"),
    ]),
    "optimistic_list": (11, [
        ("while (at->key < pred->key) at = at->next;", "load", "relaxed", ""),
        ("return at == pred && pred->next == node;", "load", "relaxed", ""),
        ("Node* node = pred->next;", "load", "relaxed", ""),
        ("node = node->next;", "load", "relaxed", ""),
        ("pred->next = fresh;", "store", "release", "data race on Node::key"),
        ("Node* node = pred->next;", "load", "relaxed", ""),
        ("node = node->next;", "load", "relaxed", ""),
        ("pred->next = node->next.load();", "store", "relaxed", ""),
        ("pred->next = node->next.load();", "load", "relaxed", ""),
        ("while (node->key < key) node = node->next;", "load", "acquire", "data race on Node::key"),
        ("list.head.next = &one;", "store", "relaxed", ""),
    ]),
    "peterson": (4, [
        ("flag[me] = true;", "store", "seq_cst", "data race on counter"),
        ("victim = me;", "store", "seq_cst", "data race on counter"),
        ("while (flag[1 - me] && victim == me) {", "load", "seq_cst", "data race on counter"),
        ("while (flag[1 - me] && victim == me) {", "load", "relaxed", ""),
        ("void unlock(int me) { flag[me] = false; }", "store", "release", "data race on counter"),
    ]),
    "test_and_set": (2, [
        ("while (held.exchange(true)) {", "update", "acquire", "data race on counter"),
        ("void unlock(int) { held = false; }", "store", "release", "data race on counter"),
    ]),
    "test_test_and_set": (6, [
        ("while (held) {", "load", "relaxed", ""),
        ("if (!held.exchange(true)) return;", "update", "acquire", "data race on counter"),
        ("void unlock(int) { held = false; }", "store", "release", "data race on counter"),
    ]),
    # 44 or 32: how many rounds of the loop are taken for waiting depends on what the compiler leaves in registers and frames.
    "treiber_stack": (44, [
        ("Node* old = top_;", "load", "relaxed", ""),
        ("while (!top_.compare_exchange_strong(old, node));", "compare-exchange", "release", "data race on Node::next"),
        ("Node* old = top_;", "load", "acquire", "data race on Node::next"),
        ("if (top_.compare_exchange_strong(old, old->next)) return old->value;", "compare-exchange", "relaxed", ""),
    ]),
}
# fmt: on


def check(name, tool):
    executions, expected = EXPECTED[name]
    source = harness.ROOT / f"examples/herlihy_shavit/{name}.cc"
    program = tool.compile(source, ["-DDURESS_ANY_ORDER"], "-O1")  # as in run.py: built once
    with tempfile.TemporaryDirectory(prefix="duress-weaken-") as folder:
        command = [
            tool.duress,
            "verify",
            "--json",
            "--model",
            "rc11",
            "--weaken",
            "-j",
            "2",
            "--dir",
            folder,
            "--",
            program,
        ]
        ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=250, check=False)
    document = harness.valid(json.loads(ended.stdout))
    lines = source.read_text().splitlines()
    orders = [one for one in document.get("orders", []) if pathlib.Path(one["file"]).name == source.name]
    found = [
        (
            lines[one["line"] - 1].strip(),
            one["operation"],
            one["sufficient"],
            one.get("with_less", "").partition(": ")[2],
        )
        for one in orders
    ]
    same = len(found) == len(expected) and all(
        f[0].startswith(w[0]) and f[1:] == w[1:] for f, w in zip(found, expected)
    )
    if ended.returncode != 0 or not document["complete"] or document["interleavings"] != executions or not same:
        return (
            f"exit code {ended.returncode}, complete {document['complete']}, {document['interleavings']} executions\n"
            f"found {found}\nexpected {expected}"
        )
    return ""


def main():
    parser = harness.parser(__doc__, programs=False)
    parser.add_argument("names", nargs="*", help="of programs; all of them if there are none")
    options = parser.parse_args()
    tool = harness.Tool(options.build, options.duress)
    harness.report(
        (name, lambda name=name: check(name, tool)) for name in EXPECTED if not options.names or name in options.names
    )


if __name__ == "__main__":
    main()
