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
  std::optional<bool> passed{};  // none: a figure, not a judgement
};

/// Prints findings as they come and keeps them for the end.
class Report {
 public:
  explicit Report(bool quiet) : quiet_(quiet) {}
  void add(Finding finding);
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
  /// A remark for people; JSON keeps it too.
  void note(const std::string& text);
  bool passed() const;
  std::string json(const std::string& device) const;

 private:
  bool quiet_;
  std::vector<Finding> findings_{};
  std::vector<std::string> notes_{};
};

}  // namespace tutti
