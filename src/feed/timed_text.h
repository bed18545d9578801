#pragma once

#include <string>

namespace tutti {

/// Text and when it is spoken, in seconds from the start of its sample.
struct TimedText {
  double start = 0;
  double end = 0;
  std::string text{};
};

}  // namespace tutti
