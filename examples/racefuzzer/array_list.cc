// SPDX-License-Identifier: Apache-2.0
//
// RaceFuzzer, table 1, ArrayList: containsAll of one synchronized list walks along another one without its
// lock, while that is cleared.
//
// array_list [ordered]: the list is changed when the walk is over, in every run.
//
// EXPECT-PAIR: ArrayList::size @has_next @clear_size real exception
// EXPECT-PAIR: ArrayList::size @has_next @add_size real exception
// EXPECT-PAIR: ArrayList::modifications @check @clear real exception
// EXPECT-PAIR: ArrayList::modifications @check @add real exception
// EXPECT-PAIR: ArrayList::elements[] @get @clear_element real exception
// EXPECT-PAIR: ArrayList::elements[] @get @add_element real
// EXPECT-RACE: ArrayList::size
// EXPECT-RACE: ArrayList::modifications
// EXPECT-RACE: ArrayList::elements[]
// RUN-ARGS: ordered
#include <cstdio>
#include <thread>

#include "invisible_barrier.h"
#include "synchronized_collection.h"

class ArrayList : public Collection {
 public:
  void add(int value) override {
    ++modifications;         // @add
    elements[size] = value;  // @add_element
    ++size;                  // @add_size
  }
  bool contains(int value) override {
    for (int i = 0; i < size; ++i)
      if (elements[i] == value) return true;
    return false;
  }
  void clear() override {
    ++modifications;                                         // @clear
    for (int i = 0; i < kMost; ++i) elements[i] = kNothing;  // @clear_element
    size = 0;                                                // @clear_size
  }
  std::unique_ptr<Iterator> iterator() override { return std::make_unique<Walk>(*this); }

 private:
  static constexpr int kMost = 4, kNothing = -1;

  class Walk : public Iterator {
   public:
    explicit Walk(ArrayList& list) : list_(list), expected_(list.modifications) {}
    bool has_next() override {
      return next_ != list_.size;  // @has_next
    }
    int next() override {
      if (list_.modifications != expected_) throw ConcurrentModification();  // @check
      if (next_ >= kMost) throw NoSuchElement();
      return list_.elements[next_++];  // @get
    }

   private:
    ArrayList& list_;
    const int expected_;
    int next_ = 0;
  };

  int elements[kMost];
  int size = 0, modifications = 0;
};

int walked = 0;

int main(int count, char**) {
  const bool ordered = count > 1;
  ArrayList lists[2];
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
