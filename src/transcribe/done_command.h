#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "transcript/writers.h"

namespace tutti {

/// A shell command of the user, run once for each recording when its outputs are in place. In it {input}, {txt}, {vtt},
/// {srt}, {tsv} and {json} become the paths of the recording and of its outputs, quoted for the shell; other text in
/// braces stays as it is. Thread-safe.
class DoneCommand {
 public:
  explicit DoneCommand(std::string text) : text_(std::move(text)) {}

  /// Fault::usage where it names an output of a format that is not written.
  Result<void> expect_outputs(std::span<const Format> formats) const;

  /// The command for one recording; the endings of `outputs` name their formats.
  std::string command_for(const std::filesystem::path& input, std::span<const std::filesystem::path> outputs) const;

  /// Runs it for one recording, whose `name` people know, and waits. Its output goes to the log. One that fails, or
  /// that is ended because `goes_on` returns false, is an error in the log, and counted; the recording is done.
  void run(const std::string& name, const std::filesystem::path& input, std::span<const std::filesystem::path> outputs,
           const std::function<bool()>& goes_on);

  /// How many have failed.
  std::size_t failures() const { return failures_; }

 private:
  const std::string text_;
  std::atomic<std::size_t> failures_{0};
};

}  // namespace tutti
