# SPDX-License-Identifier: Apache-2.0
"""Names that attack whoever shows them: terminals, pages, XML, shells; a program and a document full of them."""

ATTACK = r"""
#include <cassert>
#include <cstdio>
#include <pthread.h>
#include <thread>
int counter;
void add(const char* name) {
  pthread_setname_np(pthread_self(), name);
  int before = counter;
  counter = before + 1;
}
int main() {
  std::thread a(add, "\x1b[2J<b>"), b(add, "</script>\x07");
  a.join();
  b.join();
  if (counter != 2) std::fprintf(stderr, "\x1b]0;owned\x07<script>window.hacked=2</script>\xff\xfe\n");
  assert(counter == 2 && "<img src=x onerror=window.hacked=3>");
}
"""

HOSTILE = [
    "<script>window.hacked=1</script>",
    "</script><script>window.hacked=2</script>",
    "'\"><img src=x onerror=window.hacked=3>",
    "<!--",
    "]]>",
    "a\x00b\x1b[2J\x1b]0;owned\x07\r\n",
    "\u202egnp.exe\u2066",
    "\u2028\u2029",
    "javascript:window.hacked=4",
    "${window.hacked=5}",
    "{{7*7}}",
    "\ud800 lone".encode("utf-8", "replace").decode(),
    "\uffff\ufffe",
    "&lt;b&gt;&amp;",
    "[click](https://example.invalid)",
    "../../../../etc/passwd",
    "/dev/zero",
    "'; rm -rf ~; '",
    "x" * (1 << 20),
]


def frame_of(name):
    return {"function": name, "file": name, "line": 3, "column": 1, "module": name}


def hostile_lanes(name):
    return {
        "threads": [{"id": 1, "name": name}, {"id": 2, "name": name}],
        "note": name,
        "events": [
            {"thread": 1, "operation": "write", "object": name, "value": name, "file": name, "line": 3},
            {
                "thread": 2,
                "operation": name,
                "object": name,
                "value": name,
                "newest": name,
                "how": "stale",
                "from": 0,
                "after": 0,
            },
            {"operation": "failure", "object": name},
        ],
    }


def hostile_race(number, name):
    frame = frame_of(name)
    site = {
        "file": name,
        "line": 3,
        "column": 1,
        "function": name,
        "access": "write",
        "thread": 1,
        "thread_name": name,
        "locks": [name],
        "stack": [frame, {"function": name, "module": name}],
    }
    return {
        "id": f"R-{number:04x}",
        "variable": name,
        "kind": "write-read",
        "sites": [site, dict(site, access="read", thread=2)],
        "found_by": [name],
        "confirmed": True,
        "verdict": "destructive" if number % 2 else "no-harm-found",
        "test": name,
        "evidence": {
            "failure": "exit:1",
            "text": name,
            "model": "stale",
            "heuristic": name,
            "read": name,
            "newest": name,
            "rates": [{"model": "stale", "heuristic": name, "failed": 1, "runs": 2}],
            "counterfactual": {"failed": 0, "runs": 2},
            "replay": "D1.x.A",
            "interleaving": [name],
        },
        "fix": {"kind": "lock", "text": name, "diff": f"--- {name}\n+++ {name}\n@@ -1 +1 @@\n-{name}\n+{name}\n"},
        "block": {"kind": "heap", "name": name, "stack": [frame]},
        "threads": [{"id": 1, "name": name, "stack": [frame]}],
        **({"lanes": hostile_lanes(name)} if number % 3 else {}),
    }


def hostile_failure(number, name):
    frame = frame_of(name)
    return {
        "id": f"F-{number:04x}",
        "failure": "exception:" + name,
        "text": name,
        "strategy": name,
        "replay": "D1.x.B",
        "stderr": name + "\n" + name,
        "file": name,
        "line": 3,
        "stacks": [{"thread": 1, "thread_name": name, "operation": name, "object": name, "stack": [frame]}],
    }


def hostile_document():
    """A document in which every name is an attack."""
    # The document's own text is limited to what JSON can carry; a byte that is no UTF-8 comes as itself.
    return {
        "schema": "duress/1",
        "command": "classify",
        "version": HOSTILE[0],
        "seed": 1,
        "target": [HOSTILE[0], HOSTILE[2]],
        "runs": 2,
        "folder": "/nowhere",
        "incomplete": HOSTILE[:6],
        "races": [hostile_race(number, name) for number, name in enumerate(HOSTILE)],
        "failures": [hostile_failure(number, name) for number, name in enumerate(HOSTILE)],
    }
