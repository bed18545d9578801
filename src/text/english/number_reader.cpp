#include <array>
#include <optional>
#include <string_view>

#include "text/code_points.h"
#include "text/english/numbers.h"
#include "text/utf8.h"

namespace tutti {
namespace {

/// `word` with the decimals of every script as ASCII digits.
std::string ascii_digits(std::string_view word) {
  std::string out;
  for (const char32_t value : to_code_points(word))
    append_utf8(out, is_decimal(value) ? U'0' + static_cast<char32_t>(decimal_value(value)) : value);
  return out;
}

/// The sign in front of a number: one of those that `number_words` can set.
std::string_view sign_of(std::string_view word) {
  static constexpr std::array<std::string_view, 6> kSigns = {"-", "+", "£", "€", "$", "¢"};
  for (const std::string_view sign : kSigns)
    if (word.starts_with(sign)) return sign;
  return {};
}

/// A number that is being put together. While it is a count, further words add to it; once it is a row of digits
/// ("one oh one", "3.5") they are written behind it.
struct Number {
  std::string digits;
  bool is_count = false;

  bool is_zero() const { return is_count && digits == "0"; }
};

/// A word with what the rules need to know about it.
struct Word {
  std::string_view text;
  const NumberWord* meaning = nullptr;
  bool numeric = false;  // digits, without a sign

  bool is(NumberKind kind) const { return meaning && meaning->kind == kind; }
  bool is_digit_word() const { return is(NumberKind::one) || is(NumberKind::zero); }
};

Word look_up(const std::vector<std::string>& words, std::size_t at) {
  if (at >= words.size()) return {};
  return {words[at], number_word(words[at]), is_numeric(ascii_digits(words[at]))};
}

std::size_t zeros_of(const NumberWord& multiplier) {
  return multiplier.value.size() - 1;
}

class NumberReader {
 public:
  explicit NumberReader(const std::vector<std::string>& words) : words_(words) {}

  std::vector<std::string> read() {
    for (std::size_t at = 0; at < words_.size(); ++at) {
      before_ = at > 0 ? look_up(words_, at - 1) : Word{};
      current_ = look_up(words_, at);
      next_ = look_up(words_, at + 1);
      next_used_ = false;
      take();
      if (next_used_) ++at;
    }
    if (number_) give_number();
    return std::move(out_);
  }

 private:
  void take() {
    const std::string_view sign = sign_of(current_.text);
    const std::string digits = ascii_digits(current_.text.substr(sign.size()));
    if (is_numeric(digits)) return take_digits(sign, digits);
    if (!current_.meaning) return end_with(current_.text);
    using enum NumberKind;
    switch (current_.meaning->kind) {
      case zero: return append("0");
      case one: return take_one();
      case ten: return take_ten();
      case one_suffixed:
      case ten_suffixed: return take_last();
      case multiplier: return take_multiplier();
      case multiplier_suffixed: return take_last_multiplier();
      case preceding_prefix: return take_sign_before();
      case following_prefix: return take_sign_behind();
      case suffix: return take_suffix();
      case special: return take_special();
    }
  }

  void take_digits(std::string_view sign, const std::string& digits) {
    if (number_ && !number_->is_count && number_->digits.ends_with('.')) {
      number_->digits += current_.text;  // decimals, or the next part of an IP address
      return;
    }
    if (number_) give_number();
    if (!sign.empty()) sign_ = sign;
    if (const auto whole = whole_number(digits))
      number_ = {*whole, true};
    else
      number_ = {std::string(current_.text.substr(sign.size())), false};
  }

  void take_one() { number_ = joined_one(); }
  void take_ten() {
    const std::string& tens = current_.meaning->value;
    if (!number_)
      number_ = {tens, true};
    else if (number_->is_count && ends_in_zeros(number_->digits, 2))
      number_ = {add_digits(number_->digits, tens), true};
    else
      append(tens);
  }

  /// The number so far with "one" to "nineteen" added or written behind.
  Number joined_one() const {
    const std::string& ones = current_.meaning->value;
    if (!number_) return {ones, true};
    const std::string& digits = number_->digits;
    if (!number_->is_count || before_.is(NumberKind::one)) {
      if (before_.is(NumberKind::ten) && ones.size() == 1)  // "one twenty five": the zero gives way
        return {digits.substr(0, digits.size() - 1) + ones, false};
      return {digits + ones, false};
    }
    if (ends_in_zeros(digits, ones.size())) return {add_digits(digits, ones), true};
    return {digits + ones, false};
  }

  /// "twenty first", "nineteen sixties": ends the number.
  void take_last() {
    if (current_.is(NumberKind::one_suffixed))
      take_one();
    else
      take_ten();
    number_->digits += current_.meaning->suffix;
    give_number();
  }

  void take_multiplier() {
    const std::size_t zeros = zeros_of(*current_.meaning);
    if (!number_) {
      number_ = {current_.meaning->value, true};
    } else if (number_->is_count && !number_->is_zero()) {
      number_->digits = multiply_rest(number_->digits, zeros);
    } else if (const auto product = shift_point(ascii_digits(number_->digits), zeros)) {
      number_ = {*product, true};
    } else {
      give_number();
      number_ = {current_.meaning->value, true};
    }
  }

  void take_last_multiplier() {
    take_multiplier();
    number_->digits += current_.meaning->suffix;
    give_number();
  }

  void take_sign_before() {
    if (number_) give_number();
    if (next_.meaning || next_.numeric)
      sign_ = current_.meaning->value;
    else
      give(std::string(current_.text));
  }

  void take_sign_behind() {
    if (!number_) return give(std::string(current_.text));
    sign_ = current_.meaning->value;
    give_number();
  }

  void take_suffix() {
    const bool per = current_.text == "per";
    if (number_ && per && next_.text != "cent") return end_with(current_.text);
    if (!number_) return give(std::string(current_.text));
    number_->digits += current_.meaning->value;
    give_number();
    next_used_ = per;
  }

  void take_special() {
    if (!next_.meaning && !next_.numeric) return end_with(current_.text);
    if (current_.text == "point") {
      if (next_.is_digit_word() || next_.is(NumberKind::ten) || next_.numeric) append(".");
    } else if (current_.text == "and") {
      if (!before_.is(NumberKind::multiplier)) end_with(current_.text);  // else left out: "hundred and one"
    } else if (next_.is_digit_word()) {
      const std::string& digit = next_.meaning->value;
      append(current_.text == "double" ? digit + digit : digit + digit + digit);
      next_used_ = true;
    } else {
      end_with(current_.text);
    }
  }

  /// Writes behind the number; a lone count of zero is dropped, as in the reference ("0 oh" is "0").
  void append(std::string_view digits) {
    const bool keep = number_ && !number_->is_zero();
    number_ = Number{(keep ? number_->digits : std::string()) + std::string(digits), false};
  }

  void end_with(std::string_view word) {
    if (number_) give_number();
    give(std::string(word));
  }
  void give_number() { give(std::string(number_->digits)); }
  /// A sign that was waiting goes in front of whatever comes next.
  void give(std::string text) {
    out_.push_back(sign_ + std::move(text));
    sign_.clear();
    number_.reset();
  }

  const std::vector<std::string>& words_;
  Word before_, current_, next_;
  bool next_used_ = false;
  std::optional<Number> number_;
  std::string sign_;
  std::vector<std::string> out_;
};

}  // namespace

std::vector<std::string> read_numbers(const std::vector<std::string>& words) {
  return NumberReader(words).read();
}

}  // namespace tutti
