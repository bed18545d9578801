#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/units.h"

namespace tutti {

/// What a corpus holds.
struct PreparedTotals {
  std::int64_t samples = 0;
  Seconds audio{};           // length of the samples together
  std::int64_t refused = 0;  // units of text, and recordings as a whole
};

/// What one recording added to the lists of a corpus, kept in a file of its own until all are done.
struct DoneRecording {
  std::string path{};
  std::string name{};      // what the ids of its samples begin with
  std::string made_of{};   // PreparedRecording::made_of
  std::string metadata{};  // lines
  std::string refused{};   // likewise
  PreparedTotals totals{};
};

/// Texts are kept byte by byte: names of files need not be UTF-8. Fault::corrupt where a text is none of these.
std::string show_done(const DoneRecording& done);
Result<DoneRecording> read_done(std::string_view text);

}  // namespace tutti
