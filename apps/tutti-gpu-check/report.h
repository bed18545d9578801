#pragma once

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
