// SPDX-License-Identifier: Apache-2.0
//
// Java's collections and Collections.synchronizedCollection, as far as RaceFuzzer found them wanting: the
// methods that take another collection hold the lock of their own, ask the other for an iterator under its
// lock, and then walk along it without.
#ifndef DURESS_EXAMPLES_SYNCHRONIZED_COLLECTION_H_
#define DURESS_EXAMPLES_SYNCHRONIZED_COLLECTION_H_

#include <memory>
#include <mutex>
#include <stdexcept>

struct ConcurrentModification : std::logic_error {
  ConcurrentModification() : std::logic_error("the collection was changed") {}
};
struct NoSuchElement : std::out_of_range {
  NoSuchElement() : std::out_of_range("there is no more element") {}
};

class Iterator {
 public:
  virtual ~Iterator() = default;
  virtual bool has_next() = 0;
  virtual int next() = 0;
};

class Collection {
 public:
  virtual ~Collection() = default;
  virtual void add(int value) = 0;
  virtual bool contains(int value) = 0;
  virtual void clear() = 0;
  virtual std::unique_ptr<Iterator> iterator() = 0;

  virtual bool contains_all(Collection& other) {
    for (auto at = other.iterator(); at->has_next();)
      if (!contains(at->next())) return false;
    return true;
  }
  virtual void add_all(Collection& other) {
    for (auto at = other.iterator(); at->has_next();) add(at->next());
  }
};

class SynchronizedCollection : public Collection {
 public:
  explicit SynchronizedCollection(Collection& collection) : collection_(collection) {}
  void add(int value) override {
    std::lock_guard lock(mutex_);
    collection_.add(value);
  }
  bool contains(int value) override {
    std::lock_guard lock(mutex_);
    return collection_.contains(value);
  }
  void clear() override {
    std::lock_guard lock(mutex_);
    collection_.clear();
  }
  std::unique_ptr<Iterator> iterator() override {
    std::lock_guard lock(mutex_);
    return collection_.iterator();
  }
  bool contains_all(Collection& other) override {
    std::lock_guard lock(mutex_);
    return collection_.contains_all(other);
  }
  void add_all(Collection& other) override {
    std::lock_guard lock(mutex_);
    collection_.add_all(other);
  }

 private:
  std::mutex mutex_;
  Collection& collection_;
};

#endif  // DURESS_EXAMPLES_SYNCHRONIZED_COLLECTION_H_
