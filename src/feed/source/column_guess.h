#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "feed/source/list_columns.h"

namespace tutti {

/// Some rows of a list, spread over the whole of it, and what is known of the files that they name.
struct ListRows {
  std::vector<std::vector<std::string>> rows{};
  /// Seconds of the recording that a list names so; 0 where they are not known, none where no file is there.
  std::function<std::optional<double>(const std::string& named)> seconds_of{};
};

/// Finds out what the columns hold that have no name: those of a list without a header, and further ones behind the
/// names of a header. `columns` has what is known, `header` its names, none where there is no header.
///
/// A column is the normalised text of the one before where over half of the rows share a word; else it is no text that
/// is learned. Few values that repeat, beside a text of more words, are speakers. Seconds, clocks, languages and
/// numbers that are the recordings' lengths are passed over.
///
/// Fault::usage, with what is in the columns, where their content allows more than one answer. Pure but for seconds_of.
Result<ListColumns> complete_columns(ListColumns columns, const std::vector<std::string>& header, ListContent content,
                                     const ListRows& list);

/// Whether two texts have a word in common, in upper or lower case. A single character of an alphabet is none:
/// symbols of phonemes are written so.
bool share_a_word(const std::string& a, const std::string& b);

}  // namespace tutti
