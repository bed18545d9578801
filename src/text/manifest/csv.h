#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tutti {

/// Reads comma-separated values as RFC 4180 has them: fields in quotes may hold separators, line ends and doubled
/// quotes; lines end in \n or \r\n.
class CsvReader {
 public:
  CsvReader(std::string_view text, char separator) : text_(text), separator_(separator) {}

  struct Record {
    std::size_t line = 0;  // line of its first character, from 1
    std::vector<std::string> fields{};
  };
  /// The next record that is not an empty line; none at the end. An error for a quote that is never closed or is
  /// followed by more than a separator; the reader is then at the text's end.
  Result<std::optional<Record>> next();

 private:
  Result<std::string> quoted();

  std::string_view text_;
  char separator_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
};

/// A field as RFC 4180 quotes it: within quotes, its own doubled.
std::string csv_quoted(std::string_view field);

/// A number with a decimal comma, and points between its thousands, as one with a decimal point: "1.234,5" becomes
/// "1234.5". Other texts are as they were. For tables whose separator is no comma.
std::string with_decimal_point(std::string_view number);

/// The separator a table's first line uses: the one of , ; and tab that is there most often.
char csv_separator(std::string_view text);

}  // namespace tutti
