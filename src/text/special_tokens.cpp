#include "text/special_tokens.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "base/try.h"
#include "text/files/vocabulary_files.h"
#include "text/languages.h"

namespace tutti {
namespace {

constexpr std::int32_t kOtherSpecialTokens = 8;  // those in kNamed

struct Named {
  std::string_view name;
  std::int32_t SpecialTokens::*id;
};

constexpr std::array<Named, kOtherSpecialTokens> kNamed = {{
    {"<|endoftext|>", &SpecialTokens::eot},
    {"<|startoftranscript|>", &SpecialTokens::sot},
    {"<|translate|>", &SpecialTokens::translate},
    {"<|transcribe|>", &SpecialTokens::transcribe},
    {"<|startoflm|>", &SpecialTokens::sot_lm},
    {"<|startofprev|>", &SpecialTokens::sot_prev},
    {"<|nospeech|>", &SpecialTokens::no_speech},
    {"<|notimestamps|>", &SpecialTokens::no_timestamps},
}};

std::string name_of_language(std::string_view code) {
  return "<|" + std::string(code) + "|>";
}

/// Hugging Face kept two names that the reference has changed since.
std::string name_in_reference(const std::string& name) {
  if (name == "<|nocaptions|>") return "<|nospeech|>";
  if (name == "<|iw|>") return "<|he|>";  // Hebrew's old code, in the English models
  return name;
}

using IdsByName = std::map<std::string, std::int32_t, std::less<>>;

Result<SpecialTokens> named_tokens(const IdsByName& ids) {
  SpecialTokens special;
  for (const auto& [name, member] : kNamed) {
    const auto found = ids.find(name);
    if (found == ids.end()) return fail(Fault::corrupt, "added_tokens lacks " + std::string(name));
    special.*member = found->second;
  }
  const auto zero = ids.find("<|0.00|>");
  // Files of before large-v3 leave the timestamps out: they follow the last token named.
  special.timestamp_begin = zero != ids.end() ? zero->second : special.no_timestamps + 1;
  for (const WhisperLanguage& language : whisper_languages()) {
    const auto found = ids.find(name_of_language(language.code));
    if (found == ids.end()) continue;
    special.languages.push_back(found->second);
    special.language_codes.emplace_back(language.code);
  }
  special.multilingual = !special.languages.empty();
  return special;
}

Result<void> expect_standard(const SpecialTokens& found) {
  const auto count = static_cast<std::int32_t>(found.languages.size());
  const SpecialTokens standard = standard_special_tokens(found.eot, count);
  const auto differs = [](std::string_view name, std::int32_t expected, std::int32_t got) {
    return fail(Fault::corrupt, "added_tokens: " + std::string(name) + " should be " + std::to_string(expected) +
                                    " behind this vocabulary, found " + std::to_string(got));
  };
  for (const auto& [name, member] : kNamed)
    if (found.*member != standard.*member) return differs(name, standard.*member, found.*member);
  if (found.timestamp_begin != standard.timestamp_begin)
    return differs("<|0.00|>", standard.timestamp_begin, found.timestamp_begin);
  for (std::size_t i = 0; i < found.languages.size(); ++i)
    if (found.languages[i] != standard.languages[i])
      return differs(name_of_language(found.language_codes[i]), standard.languages[i], found.languages[i]);
  return {};
}

Result<void> expect_vocabulary(const SpecialTokens& special, std::int32_t n_vocab) {
  const bool whispers_own = n_vocab >= kEnglishVocabulary && n_vocab <= kLargeV3Vocabulary;
  const std::int32_t needed = special.timestamp_begin + (whispers_own ? kTimestampTokens : 1);
  if (whispers_own ? n_vocab == needed : n_vocab >= needed) return {};
  return fail(
      Fault::corrupt,
      "tokens up to " + std::to_string(needed - 1) + ", but the model's vocabulary has " + std::to_string(n_vocab),
      "The tokenizer belongs to another model");
}

}  // namespace

std::optional<std::int32_t> SpecialTokens::language_token(std::string_view code) const {
  const auto found = std::ranges::find(language_codes, code);
  if (found == language_codes.end()) return std::nullopt;
  return languages[static_cast<std::size_t>(found - language_codes.begin())];
}

SpecialTokens standard_special_tokens(std::int32_t text_tokens, std::int32_t languages) {
  SpecialTokens special;
  std::int32_t next = text_tokens;
  special.eot = next++;
  special.sot = next++;
  for (const WhisperLanguage& language : whisper_languages().first(static_cast<std::size_t>(languages))) {
    special.languages.push_back(next++);
    special.language_codes.emplace_back(language.code);
  }
  special.translate = next++;
  special.transcribe = next++;
  special.sot_lm = next++;
  special.sot_prev = next++;
  special.no_speech = next++;
  special.no_timestamps = next++;
  special.timestamp_begin = next;
  // The English vocabulary has ids for languages, but its models were not trained with them.
  special.multilingual = languages > 0 && text_tokens != kEnglishTextTokens;
  return special;
}

Result<SpecialTokens> special_tokens_for(std::int32_t text_tokens, std::optional<std::int32_t> n_vocab) {
  const auto most = static_cast<std::int32_t>(whisper_languages().size());
  const std::int32_t fixed = text_tokens + kOtherSpecialTokens + kTimestampTokens;
  const std::int32_t languages = n_vocab ? *n_vocab - fixed : 99;
  if (languages >= 0 && languages <= most) return standard_special_tokens(text_tokens, languages);
  return fail(Fault::corrupt,
              std::to_string(text_tokens) + " tokens of text make a vocabulary of " + std::to_string(fixed) + " to " +
                  std::to_string(fixed + most) + ", but the model's has " + std::to_string(*n_vocab),
              "The tokenizer belongs to another model");
}

Result<SpecialTokens> special_tokens_from(const std::vector<AddedToken>& added, std::optional<std::int32_t> n_vocab) {
  IdsByName ids;
  for (const AddedToken& token : added) {
    const std::string name = name_in_reference(token.content);
    const auto [entry, fresh] = ids.emplace(name, token.id);
    if (!fresh && entry->second != token.id) return fail(Fault::corrupt, "added_tokens has " + name + " twice");
  }
  auto special = named_tokens(ids);
  if (!special) return special;
  if (special->eot == kEnglishTextTokens || special->eot == kMultilingualTextTokens) {
    TRY(expect_standard(*special));
    special->multilingual = special->eot == kMultilingualTextTokens;
  }
  if (n_vocab) TRY(expect_vocabulary(*special, *n_vocab));
  return special;
}

std::vector<std::pair<std::int32_t, std::string>> special_token_names(const SpecialTokens& special) {
  std::vector<std::pair<std::int32_t, std::string>> names;
  for (const auto& [name, member] : kNamed) names.emplace_back(special.*member, name);
  for (std::size_t i = 0; i < special.languages.size(); ++i)
    names.emplace_back(special.languages[i], name_of_language(special.language_codes[i]));
  return names;
}

}  // namespace tutti
