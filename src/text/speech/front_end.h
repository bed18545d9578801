#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "text/speech/grapheme_rules.h"
#include "text/speech/lexicon.h"
#include "text/speech/sentences.h"

namespace tutti {

/// What the symbols of a voice stand for.
enum class SymbolKind { characters, phonemes };

std::string_view name_of(SymbolKind kind);

/// A word of a text, as its symbols have it: numbers and abbreviations are written out.
struct SpokenWord {
  std::string text{};
  std::int64_t first = 0;  ///< its symbols: [first, end)
  std::int64_t end = 0;
};

/// A text as symbols. It begins and ends with silence; between two words is a gap, or the mark of a pause.
struct SymbolText {
  std::vector<std::int32_t> symbols{};
  std::vector<SpokenWord> words{};
  std::set<std::string> skipped{};  ///< characters that the voice has no symbol for; they are left out
};

/// The text front end of a voice: text to symbols, the same when a set is prepared and when a model speaks. All that it
/// needs, a pronouncing dictionary included, is in its bytes, which a set and a model keep. Cheap to copy; immutable;
/// thread-safe.
class TextFrontEnd {
 public:
  /// The symbols that every front end begins with: silence at the edges, and the gap between two words.
  static constexpr std::int32_t kSilence = 0, kGap = 1, kLastMark = 7;  ///< marks are behind the gap
  /// The name of its file in a model's folder.
  static constexpr const char* kFileName = "front_end.bin";

  /// English as phonemes: by `lexicon`, and by `rules` where it does not have a word.
  static TextFrontEnd english_phonemes(Lexicon lexicon, GraphemeRules rules);
  /// Any language as characters: those that `texts` have.
  static TextFrontEnd characters(std::string language, std::span<const std::string> texts);
  /// From what bytes() gave. Fault::corrupt for anything else.
  static Result<TextFrontEnd> parse(std::string_view bytes);
  /// Reads a file of such bytes.
  static Result<TextFrontEnd> open(const std::filesystem::path& file);
  std::string bytes() const;

  SymbolKind kind() const;
  /// A code such as "en".
  const std::string& language() const;
  /// The symbols by number: "_" (silence), " " (gap), marks, then characters or phonemes (ARPAbet with stress 0 or 1).
  const std::vector<std::string>& symbols() const;

  /// A sentence as symbols. English text is written out first: numbers, dates, abbreviations. [[…]] holds IPA, for
  /// phonemes only. Fault::usage for text with neither, and for IPA that is none; Fault::unsupported for text in
  /// characters that have no symbols.
  Result<SymbolText> read(std::string_view text) const;

 private:
  struct Tables;
  explicit TextFrontEnd(std::shared_ptr<const Tables> tables) : tables_(std::move(tables)) {}

  std::shared_ptr<const Tables> tables_;
};

/// Sentences by whether a front end has symbols for them.
struct ReadableSentences {
  std::vector<std::string> read{};
  std::vector<bool> rises{};            ///< of those, as in Sentences
  std::vector<std::string> left_out{};  ///< those in characters without symbols alone
  std::set<std::string> skipped{};      ///< as in SymbolText, of those that are read
};

/// Fault::usage where no piece of the sentences is read, and for what TextFrontEnd::read refuses for another reason.
Result<ReadableSentences> readable_sentences(const TextFrontEnd& front_end, const Sentences& sentences);

/// Where tools/setup.sh puts CMUdict: in the cache.
std::filesystem::path cmudict_file();

/// The front end for English as phonemes, of CMUdict in the cache and of flite's trees: what a new set is prepared
/// with. Fault::missing names what is not there, and how it comes onto the machine.
Result<TextFrontEnd> english_front_end();

}  // namespace tutti
