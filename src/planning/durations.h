#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "transcribe/inputs/inputs.h"

namespace tutti {

/// How long recordings are, in seconds.
struct Durations {
  std::vector<double> seconds{};
  std::size_t unknown = 0;      ///< recordings whose length neither a list nor their own file has
  std::string first_unknown{};  ///< one of them, and why; empty: none
  bool plain = true;            ///< lengths alone: of recordings part may be silence, of these nothing is known
  std::set<std::string> only_lengths{};  ///< inputs that name no recording

  /// "3 of 40 recordings are left out, their length is not known (the first: …)"; empty: none are.
  std::string left_out() const;
};

/// The lengths of whatever `tutti batch` takes, read by its rules: a list's claim, else the length in the file's
/// header. Plain lengths (plain_lengths) count as well, in a file of any name. Fault::missing when no length is known
/// of anything.
Result<Durations> read_durations(const std::vector<std::string>& inputs, const InputOptions& options);

/// Lengths alone, in JSON: a list of numbers, or {"durations_s": [...]}. None: it is something else. Fault::corrupt
/// names the entry that is not a length; `name` is the file's.
Result<std::optional<std::vector<double>>> plain_lengths(std::string_view json, const std::string& name);

}  // namespace tutti
