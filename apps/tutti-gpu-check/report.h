#pragma once

#include <exception>
#include <optional>
#include <string>
#include <vector>

namespace tutti {

/// One line of the check.
struct Finding {
  std::string check{};  // "parity", "speed", ...
  std::string what{};   // "tiny bfloat16, logits"
  double value = 0;
  std::string unit{};
  std::optional<bool> passed{};  // none: a figure, not a check
};

/// Prints findings as they come, so that a run which is stopped has printed what it found: a line of a table each, or
/// with `json` an object a line.
class Report {
 public:
  explicit Report(bool json) : json_(json) {}
  void add(const Finding& finding);
  /// `check` has failed; what it found, another report has printed.
  void fail(const std::string& check);
  /// Does `work`, which adds findings of `check` to this report; what it throws is one too, and the rest goes on.
  template <class Work>
  void attempt(const char* check, const std::string& what, Work work) {
    try {
      work();
    } catch (const std::exception& error) {
      const std::string text = error.what();
      note(what + ": " + text.substr(0, text.find('\n')));
      add({.check = check, .what = what, .unit = "could be tried", .passed = false});
    }
  }
  /// A remark for people; in JSON {"note": text}.
  void note(const std::string& text) const;
  bool passed() const { return failed_.empty(); }
  /// The last line: how it came out, and which checks failed.
  void close(const std::string& device) const;

 private:
  bool json_;
  std::vector<std::string> failed_{};  // checks, each once
};

}  // namespace tutti
