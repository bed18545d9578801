#include "text/manifest/json_scan.h"

#include <algorithm>
#include <bitset>

namespace tutti {
namespace {

constexpr std::size_t kDeepest = 64;

/// Walks over a JSON text without making values of it. After a complaint every step answers false.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::size_t at() const { return at_; }
  const std::string& complaint() const { return complaint_; }

  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t'))
      ++at_;
  }
  char next() {
    skip_space();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char expected) {
    if (next() != expected) return complain(std::string("expected '") + expected + "'");
    ++at_;
    return true;
  }
  /// A string with its quotes.
  bool skip_string() {
    if (!take('"')) return false;
    while (true) {
      at_ = std::min(text_.find_first_of("\"\\", at_), text_.size());
      if (at_ == text_.size()) return complain("the string is not closed");
      if (text_[at_++] == '"') return true;
      ++at_;  // what is escaped
    }
  }
  bool skip_value() {
    const char first = next();
    if (first == '"') return skip_string();
    if (first == '{' || first == '[') return skip_nest();
    const std::size_t begin = at_;
    while (at_ < text_.size() && std::string_view(",]} \n\r\t").find(text_[at_]) == std::string_view::npos) ++at_;
    return at_ > begin || complain("expected a value");
  }
  bool complain(std::string what) {
    if (complaint_.empty()) complaint_ = std::move(what);
    return false;
  }

 private:
  bool skip_nest() {
    std::bitset<kDeepest> is_list;
    std::size_t depth = 0;
    do {
      at_ = std::min(text_.find_first_of("\"[]{}", at_), text_.size());
      if (at_ == text_.size()) return complain("a bracket is not closed");
      const char c = text_[at_];
      if (c == '"') {
        if (!skip_string()) return false;
        continue;
      }
      if (c == '{' || c == '[') {
        if (depth == kDeepest) return complain("nested deeper than 64 levels");
        is_list[depth++] = c == '[';
      } else if (is_list[depth - 1] != (c == ']')) {
        return complain("a bracket is closed by one of the other kind");
      } else {
        --depth;
      }
      ++at_;
    } while (depth > 0);
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string complaint_;
};

bool scan_list(Scanner& scan, std::vector<TextSpan>& elements) {
  if (!scan.take('[')) return false;
  if (scan.next() == ']') return scan.take(']');
  while (true) {
    scan.skip_space();
    const std::size_t begin = scan.at();
    if (!scan.skip_value()) return false;
    elements.push_back({begin, scan.at()});
    if (scan.next() == ']') return scan.take(']');
    if (!scan.take(',')) return false;
  }
}

/// Scans an object whose `member` is the wanted list.
bool scan_object(Scanner& scan, std::string_view text, std::string_view member, std::vector<TextSpan>& elements) {
  bool found = false;
  if (!scan.take('{')) return false;
  while (scan.next() != '}') {
    const std::size_t begin = scan.at();
    if (!scan.skip_string()) return false;
    const bool is_it = text.substr(begin + 1, scan.at() - begin - 2) == member;
    if (!scan.take(':')) return false;
    if (is_it && found) return scan.complain("'" + std::string(member) + "' is there twice");
    if (is_it ? !scan_list(scan, elements) : !scan.skip_value()) return false;
    found = found || is_it;
    if (scan.next() != '}' && !scan.take(',')) return false;
  }
  return scan.take('}') && (found || scan.complain("expected a list '" + std::string(member) + "'"));
}

}  // namespace

std::size_t line_of(std::string_view text, std::size_t offset) {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(offset, text.size()));
  return 1 + static_cast<std::size_t>(std::count(text.begin(), end, '\n'));
}

Result<std::vector<TextSpan>> find_elements(std::string_view text, std::string_view member) {
  Scanner scan(text);
  std::vector<TextSpan> elements;
  bool whole = scan.next() == '[' ? scan_list(scan, elements) : scan_object(scan, text, member, elements);
  scan.skip_space();
  if (whole && scan.at() != text.size()) whole = scan.complain("expected nothing more after the document");
  if (!whole) return fail(Fault::corrupt, "line " + std::to_string(line_of(text, scan.at())) + ": " + scan.complaint());
  return elements;
}

}  // namespace tutti
