#include "text/normaliser.h"

#include <utf8proc.h>

#include "text/code_points.h"
#include "text/symbols.h"
#include "text/utf8.h"

namespace tutti {
namespace {

/// A space between grapheme clusters (Unicode's extended ones).
std::u32string split_letters(std::u32string_view text) {
  std::u32string out;
  utf8proc_int32_t state = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (at > 0 && utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(text[at - 1]),
                                                   static_cast<utf8proc_int32_t>(text[at]), &state))
      out.push_back(U' ');
    out.push_back(text[at]);
  }
  return out;
}

}  // namespace

std::string normalise_basic(std::string_view text, BasicNormalising how) {
  const std::u32string spoken = remove_brackets(lower(to_code_points(text)));
  std::u32string clean = how.remove_diacritics ? remove_symbols_and_diacritics(spoken) : remove_symbols(spoken);
  clean = lower(clean);
  if (how.split_letters) clean = split_letters(clean);
  return to_utf8(join_spaces(clean));
}

}  // namespace tutti
