#pragma once

#include <map>
#include <string>
#include <thread>

#include "base/guarded.h"
#include "cloud/caller_pool.h"

namespace tutti {

/// Writes small objects of JSON to a bucket beside the work, for those who look at it. Where an object changes faster
/// than once a second, only its latest content is written. What cannot be written is logged once in a while and costs
/// no job anything. Thread-safe; owns a thread.
class ObjectWriter {
 public:
  /// `callers` outlives it.
  ObjectWriter(CallerPool& callers, std::string bucket);
  /// Writes what is left.
  ~ObjectWriter();
  ObjectWriter(const ObjectWriter&) = delete;
  ObjectWriter& operator=(const ObjectWriter&) = delete;

  /// Returns at once.
  void put(const std::string& key, std::string content);

 private:
  struct State {
    std::map<std::string, std::string> waiting{};  // content, by key
    bool over = false;
  };

  void work();

  CallerPool& callers_;
  const std::string bucket_;
  Guarded<State> state_{};
  std::jthread thread_;  // last: it uses the others
};

}  // namespace tutti
