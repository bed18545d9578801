#include "text/error_rate/wer.h"

#include <string_view>
#include <unordered_map>

#include "base/files.h"
#include "text/byte_order_mark.h"
#include "text/code_points.h"
#include "text/utf8.h"

namespace tutti {
namespace {

std::u32string_view strip(std::u32string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

/// Two and more white spaces become one U+0020; a lone one stays what it is: re.sub(r"\s\s+", " ", text)
std::u32string join_runs(std::u32string_view text) {
  std::u32string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_space(text[end])) ++end;
    const std::size_t spaces = end - at;
    out.push_back(spaces > 1 ? U' ' : text[at]);
    at += spaces > 1 ? spaces : 1;
  }
  return out;
}

/// Words as numbers, equal words as equal ones.
class Words {
 public:
  std::vector<std::int32_t> of(std::u32string_view text) {
    const std::u32string joined = join_runs(text);
    std::vector<std::int32_t> numbers;
    std::u32string_view rest = strip(joined);
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(U' '), rest.size());
      if (end > 0) numbers.push_back(number_of(rest.substr(0, end)));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return numbers;
  }

 private:
  std::int32_t number_of(std::u32string_view word) {
    return numbers_.emplace(word, static_cast<std::int32_t>(numbers_.size())).first->second;
  }

  std::unordered_map<std::u32string, std::int32_t> numbers_;
};

std::vector<std::int32_t> characters_of(std::u32string_view text) {
  const std::u32string_view stripped = strip(text);
  return {stripped.begin(), stripped.end()};
}

double per(std::int64_t errors, std::int64_t units) {
  return units == 0 ? static_cast<double>(errors) : static_cast<double>(errors) / static_cast<double>(units);
}

}  // namespace

double ErrorRates::wer() const {
  return per(words.errors(), words.reference());
}

double ErrorRates::cer() const {
  return per(character_errors, characters);
}

Result<ErrorRates> error_rates(std::span<const std::string> references, std::span<const std::string> hypotheses) {
  if (references.size() != hypotheses.size())
    return fail(Fault::usage, "expected one hypothesis for each of " + std::to_string(references.size()) +
                                  " references, found " + std::to_string(hypotheses.size()));
  ErrorRates rates;
  for (std::size_t i = 0; i < references.size(); ++i) {
    const std::u32string reference = to_code_points(references[i]), hypothesis = to_code_points(hypotheses[i]);
    Words words;
    const auto reference_words = words.of(reference);
    const EditCounts counts = edit_counts(reference_words, words.of(hypothesis));
    rates.words.hits += counts.hits;
    rates.words.substitutions += counts.substitutions;
    rates.words.insertions += counts.insertions;
    rates.words.deletions += counts.deletions;
    const auto characters = characters_of(reference);
    rates.characters += static_cast<std::int64_t>(characters.size());
    rates.character_errors += edit_distance(characters, characters_of(hypothesis));
  }
  return rates;
}

Result<std::vector<std::string>> read_lines(const std::filesystem::path& path) {
  auto content = read_file(path);
  if (!content) return tl::unexpected(content.error());
  std::string_view rest = without_mark(*content);
  std::vector<std::string> lines;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!is_utf8(line))
      return fail(Fault::corrupt,
                  path.string() + ", line " + std::to_string(lines.size() + 1) + ": expected UTF-8, found other bytes",
                  "Convert it, for example with iconv -f latin1 -t utf-8");
    lines.emplace_back(line);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return lines;
}

}  // namespace tutti
