// SPDX-License-Identifier: Apache-2.0
//
// RaceFuzzer, table 1, LinkedList: containsAll of one synchronized list walks along another one without its
// lock, while that is cleared: ConcurrentModificationException and NoSuchElementException.
//
// linked_list [ordered]: the list is changed when the walk is over, in every run.
//
// EXPECT-PAIR: LinkedList::size @has_next @clear_size real exception
// EXPECT-PAIR: LinkedList::size @has_next @add_size real exception
// EXPECT-PAIR: LinkedList::modifications @check @clear real exception
// EXPECT-PAIR: LinkedList::modifications @check @add real exception
// EXPECT-PAIR: LinkedList::Node::next @next @clear_next real exception
// EXPECT-PAIR: LinkedList::Node::next @next @add_next real
// EXPECT-PAIR: LinkedList::Node::value @value @clear_value real exception
// EXPECT-PAIR: LinkedList::Node::value @value @add_value real
// EXPECT-RACE: LinkedList::size
// EXPECT-RACE: LinkedList::modifications
// EXPECT-RACE: LinkedList::Node::next
// EXPECT-RACE: LinkedList::Node::value
// RUN-ARGS: ordered
#include <cstdio>
#include <thread>

#include "invisible_barrier.h"
#include "synchronized_collection.h"

class LinkedList : public Collection {
 public:
  void add(int value) override {
    ++modifications;            // @add
    Node* node = &pool_[size];  // there is no garbage collection: nodes live as long as the list
    node->value = value;        // @add_value
    node->next = nullptr;       // @add_next
    if (last_ == nullptr)
      first_ = node;
    else
      last_->next = node;
    last_ = node;
    ++size;  // @add_size
  }
  bool contains(int value) override {
    for (Node* node = first_; node != nullptr; node = node->next)
      if (node->value == value) return true;
    return false;
  }
  void clear() override {
    ++modifications;  // @clear
    for (Node* node = first_; node != nullptr;) {
      Node* after = node->next;
      node->next = nullptr;    // @clear_next
      node->value = kNothing;  // @clear_value
      node = after;
    }
    first_ = last_ = nullptr;
    size = 0;  // @clear_size
  }
  std::unique_ptr<Iterator> iterator() override { return std::make_unique<Walk>(*this); }

 private:
  static constexpr int kMost = 4, kNothing = -1;

  struct Node {
    int value;
    Node* next;
  };

  class Walk : public Iterator {
   public:
    explicit Walk(LinkedList& list) : list_(list), expected_(list.modifications), at_(list.first_) {}
    bool has_next() override {
      return walked_ < list_.size;  // @has_next
    }
    int next() override {
      if (list_.modifications != expected_) throw ConcurrentModification();  // @check
      if (at_ == nullptr) throw NoSuchElement();
      const int value = at_->value;  // @value
      at_ = at_->next;               // @next
      ++walked_;
      return value;
    }

   private:
    LinkedList& list_;
    const int expected_;
    Node* at_;
    int walked_ = 0;
  };

  Node pool_[kMost];
  Node *first_ = nullptr, *last_ = nullptr;
  int size = 0, modifications = 0;
};

int walked = 0;

int main(int count, char**) {
  const bool ordered = count > 1;
  LinkedList lists[2];
  SynchronizedCollection first(lists[0]), second(lists[1]);
  for (int i = 0; i < 2; ++i) {
    first.add(i);
    second.add(i);
  }
  bool all = false;
  std::thread walking([&] {
    all = first.contains_all(second);
    if (ordered) invisible_signal(&walked);
  });
  std::thread clearing([&] {
    if (ordered) invisible_wait(&walked, 1);
    for (int round = 0; round < 2; ++round) {
      second.clear();
      second.add(round);
    }
  });
  walking.join();
  clearing.join();
  std::printf("%s\n", first.contains(1) ? "ended" : "lost");
  return all || !ordered ? 0 : 1;
}
