#include "text/speech/english_cursor.h"

#include <algorithm>

#include "base/strings.h"

namespace tutti {

namespace {

/// "FYI:", "ID:" are no shouting, though they are all of the text.
bool is_in_capitals(const std::vector<EnglishToken>& tokens) {
  if (tokens.size() == 1 && tokens[0].behind == ":") return false;
  return std::ranges::none_of(
      tokens, [](const EnglishToken& token) { return !token.is_ipa && ascii_upper(token.core) != token.core; });
}

}  // namespace

EnglishCursor::EnglishCursor(std::vector<EnglishToken> tokens, const KnowsWord& knows, std::set<std::string>& skipped)
    : tokens_(std::move(tokens)), knows_(knows), skipped_(skipped), is_shouted_(is_in_capitals(tokens_)) {}

const EnglishToken* EnglishCursor::token(std::size_t ahead) const {
  return at_ + ahead < tokens_.size() ? &tokens_[at_ + ahead] : nullptr;
}

std::string_view EnglishCursor::core(std::size_t ahead) const {
  const EnglishToken* one = token(ahead);
  return one && !one->is_ipa ? std::string_view(one->core) : std::string_view();
}

std::string EnglishCursor::small_before(std::size_t back) const {
  const EnglishToken* one = before(back);
  return one && !one->is_ipa ? ascii_lower(one->core) : std::string();
}

bool EnglishCursor::next_is_name() const {
  const bool is_next_near = token(0)->behind.find_first_not_of('.') == std::string::npos;
  return is_next_near && !core(1).empty() && is_ascii_upper(core(1).front());
}

void EnglishCursor::finish_token() {
  add_marks(tokens_[at_]);
  ++at_;
}

void EnglishCursor::take_point() {
  is_point_read_ = token(0)->has_point() && at_ + 1 < tokens_.size();
}

bool EnglishCursor::has_word(std::string_view word) const {
  return std::ranges::find(out_, word, &ReadAloud::text) != out_.end();
}

void EnglishCursor::add_words(std::string_view words) {
  for (const auto word : split(words, ' ')) out_.push_back({ReadAloud::Kind::word, std::string(word)});
}

void EnglishCursor::add_mark(char mark) {
  constexpr std::string_view kByStrength = ",:;.!?";
  if (out_.empty()) return;
  if (out_.back().kind != ReadAloud::Kind::mark) {
    out_.push_back({ReadAloud::Kind::mark, std::string(1, mark)});
  } else if (kByStrength.find(mark) > kByStrength.find(out_.back().text.front())) {
    out_.back().text = std::string(1, mark);
  }
}

void EnglishCursor::add_marks(const EnglishToken& token) {
  for (const char mark : token.behind) {
    if (mark == '.' && is_point_read_) continue;
    add_mark(mark == ')' ? ',' : mark);
  }
  is_point_read_ = false;
}

void EnglishCursor::spell(std::string_view characters) {
  for (const char character : characters)
    if (is_ascii_alphabetic(character))
      out_.push_back({ReadAloud::Kind::initial, ascii_lower(std::string(1, character))});
}

void EnglishCursor::add_ipa(std::string_view ipa) {
  out_.push_back({ReadAloud::Kind::ipa, std::string(ipa)});
}

}  // namespace tutti
