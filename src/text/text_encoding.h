#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

enum class TextEncoding {
  utf8,
  windows_1252,  ///< of Western Europe's languages; the characters of Latin-1 are a part of it
  other          ///< another one, or some lines of one and some of another
};

/// The encoding of a text, as its bytes show it.
struct EncodingFacts {
  TextEncoding encoding = TextEncoding::utf8;
  std::size_t first = std::string_view::npos;  ///< offset of the first byte that is no UTF-8; npos: there is none
};

/// Takes text that is no UTF-8 for Windows-1252 only where nothing in it contradicts: no character of UTF-8 beside, no
/// byte that has no character, no lines of classic Mac OS, no words that are written in such bytes alone, no signs
/// within words. Reads every byte. Pure.
EncodingFacts encoding_of(std::string_view text);

/// `bytes` of Windows-1252 as UTF-8; none where one of them has no character.
std::optional<std::string> utf8_of_windows_1252(std::string_view bytes);

/// The lines of `text`, as views into it, without their ends: LF, CR LF or CR alone.
std::vector<std::string_view> split_lines(std::string_view text);

}  // namespace tutti
