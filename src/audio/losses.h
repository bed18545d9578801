#pragma once

#include <string>
#include <vector>

#include "base/units.h"

namespace tutti {

/// "01:02:03.4" of a position in a recording.
std::string position_text(Seconds at);

/// Collects what damage cost. Equal complaints become one sentence with the first and the last time, and only the first
/// kinds are kept word for word, so that a thoroughly broken file stays a few lines.
class Losses {
 public:
  void add(Seconds at, std::string what);
  /// How often `add` was called.
  int count() const { return count_; }
  std::vector<std::string> sentences() const;

 private:
  struct Kind {
    std::string what;
    Seconds first, last;
    int count;
  };
  std::vector<Kind> kinds_;
  int others_ = 0;
  int count_ = 0;
};

}  // namespace tutti
