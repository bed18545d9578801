#include "text/replacement_list.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/strings.h"
#include "base/try.h"
#include "text/code_points.h"
#include "text/error_rate.h"
#include "text/utf8.h"

namespace tutti {
namespace {

constexpr char32_t kTypographicApostrophe = 0x2019, kFinalSigma = 0x3C2, kSigma = 0x3C3;

/// Blocks of scripts that are written without spaces between words: Thai and Lao, Myanmar, Khmer, kana, Han.
constexpr std::array<std::pair<char32_t, char32_t>, 8> kUnspaced{{{0x0E00, 0x0EFF},
                                                                  {0x1000, 0x109F},
                                                                  {0x1780, 0x17FF},
                                                                  {0x3005, 0x3007},
                                                                  {0x3040, 0x30FF},
                                                                  {0x3400, 0x9FFF},
                                                                  {0xF900, 0xFAFF},
                                                                  {0x20000, 0x323AF}}};

bool is_unspaced(char32_t c) {
  return std::ranges::any_of(kUnspaced, [c](const auto& block) { return block.first <= c && c <= block.second; });
}

/// One code point for one, so that positions stay.
char32_t folded(char32_t c) {
  if (c == kTypographicApostrophe) return U'\'';
  const auto small = static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c)));
  return small == kFinalSigma ? kSigma : small;
}

bool continues_word(char32_t c) {
  return is_word_character(c) || class_of(c) == GeneralClass::mark_nonspacing || class_of(c) == GeneralClass::mark;
}

/// Whether two neighbours belong to one word.
bool are_one_word(char32_t left, char32_t right) {
  return continues_word(left) && continues_word(right) && !(is_unspaced(left) && is_unspaced(right));
}

bool is_inside_word(std::u32string_view text, std::size_t at) {
  return at > 0 && at < text.size() && are_one_word(text[at - 1], text[at]);
}

/// `text` with a capital in front where `found` has one.
std::u32string in_case_of(std::u32string_view found, std::u32string text) {
  if (!text.empty() && case_of(found.front()) == case_of(U'A') && case_of(text.front()) == case_of(U'a'))
    text.front() = static_cast<char32_t>(utf8proc_totitle(static_cast<utf8proc_int32_t>(text.front())));
  return text;
}

std::u32string composed(std::string_view text) {
  return nfc(join_spaces(to_code_points(trimmed(text))));
}

}  // namespace

Result<ReplacementList> ReplacementList::read(const std::filesystem::path& file) {
  const auto lines = TRY(read_lines(file));
  ReplacementList list;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = lines[i];
    if (trimmed(line).empty() || line.starts_with('#')) continue;
    TRY(list.add(line, i + 1, file.string()));
  }
  for (auto& [first, rules] : list.by_first_)
    std::ranges::stable_sort(rules, std::ranges::greater(),
                             [&](std::size_t rule) { return list.rules_[rule].old_text.size(); });
  return list;
}

Result<void> ReplacementList::add(std::string_view text, std::size_t line, const std::string& file) {
  const auto wrong = [&](const std::string& what) {
    return fail(Fault::usage, file + ", line " + std::to_string(line) + ": expected " + what + ", found '" +
                                  without_controls(text.substr(0, 80)) + "'");
  };
  const std::size_t tab = text.find('\t');
  if (tab == text.npos) return wrong("the old text, a tab and the new text");
  if (text.find('\t', tab + 1) != text.npos) return wrong("one tab");
  Rule rule{.old_text = composed(text.substr(0, tab)), .new_text = composed(text.substr(tab + 1)), .line = line};
  if (rule.old_text.empty() || rule.new_text.empty()) return wrong("text on both sides of the tab");
  std::ranges::transform(rule.old_text, rule.old_text.begin(), folded);
  auto& alike = by_first_[rule.old_text.front()];
  for (const std::size_t other : alike)
    if (rules_[other].old_text == rule.old_text)
      return wrong("another old text than in line " + std::to_string(rules_[other].line));
  alike.push_back(rules_.size());
  rules_.push_back(std::move(rule));
  return {};
}

std::size_t ReplacementList::end_of(const Rule& rule, std::u32string_view text, std::size_t at) {
  std::size_t end = at;
  for (const char32_t wanted : rule.old_text) {
    if (end == text.size()) return at;
    if (wanted == U' ' && !is_space(text[end])) return at;
    if (wanted != U' ' && folded(text[end]) != wanted) return at;
    ++end;
    while (wanted == U' ' && end < text.size() && is_space(text[end])) ++end;
  }
  return is_inside_word(text, end) ? at : end;
}

std::vector<TextEdit> ReplacementList::edits_of(std::u32string_view text) const {
  std::vector<TextEdit> edits;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    const auto found = is_inside_word(text, at) ? by_first_.end() : by_first_.find(folded(text[at]));
    if (found != by_first_.end())
      for (std::size_t i = 0; end == at && i < found->second.size(); ++i) {
        const Rule& rule = rules_[found->second[i]];
        end = end_of(rule, text, at);
        if (end > at) edits.push_back({at, end, in_case_of(text.substr(at, end - at), rule.new_text)});
      }
    at = std::max(end, at + 1);
  }
  return edits;
}

}  // namespace tutti
