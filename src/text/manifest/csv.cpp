#include "text/manifest/csv.h"

#include <algorithm>

#include "base/strings.h"

namespace tutti {

Result<std::string> CsvReader::quoted() {
  const std::size_t begun = line_;
  std::string field;
  for (++at_; at_ < text_.size(); ++at_) {
    const char c = text_[at_];
    if (c == '\n') ++line_;
    if (c != '"') {
      field += c;
      continue;
    }
    ++at_;
    if (at_ >= text_.size() || text_[at_] != '"') return field;
    field += '"';
  }
  return fail(Fault::corrupt, "line " + std::to_string(begun) + ": the quote is not closed");
}

Result<std::optional<CsvReader::Record>> CsvReader::next() {
  while (at_ < text_.size() && (text_[at_] == '\n' || text_[at_] == '\r')) line_ += text_[at_++] == '\n';
  if (at_ >= text_.size()) return std::nullopt;
  Record record{.line = line_};
  const std::string ends{separator_, '\n', '\r'};
  while (true) {
    if (at_ < text_.size() && text_[at_] == '"') {
      auto field = quoted();
      if (!field) return at_ = text_.size(), tl::unexpected(field.error());
      record.fields.push_back(std::move(*field));
    } else {
      const std::size_t end = std::min(text_.find_first_of(ends, at_), text_.size());
      record.fields.emplace_back(text_.substr(at_, end - at_));
      at_ = end;
    }
    if (at_ < text_.size() && text_[at_] == separator_) {
      ++at_;
      continue;
    }
    if (at_ < text_.size() && text_[at_] != '\n' && text_[at_] != '\r') {
      at_ = text_.size();
      return fail(Fault::corrupt, "line " + std::to_string(line_) + ": expected a separator after the closing quote");
    }
    return record;
  }
}

std::string csv_quoted(std::string_view field) {
  std::string quoted = "\"";
  for (const char c : field) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

std::string with_decimal_point(std::string_view number) {
  const auto comma = number.find(',');
  if (comma == number.npos || !is_all_digits(number.substr(comma + 1))) return std::string(number);
  std::string whole;
  for (const std::string_view part : split(number.substr(0, comma), '.')) {
    if (!is_all_digits(part) || (!whole.empty() && part.size() != 3)) return std::string(number);
    whole += part;
  }
  return (whole.empty() ? "0" : whole) + "." + std::string(number.substr(comma + 1));
}

char csv_separator(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  char best = ',';
  for (const char candidate : {';', '\t'})
    if (std::ranges::count(line, candidate) > std::ranges::count(line, best)) best = candidate;
  return best;
}

}  // namespace tutti
