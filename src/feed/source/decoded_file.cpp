#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>

#include "base/strings.h"
#include "base/try.h"
#include "feed/source/layouts.h"

namespace tutti {
namespace {

using CommandWords = std::span<const std::string>;

constexpr int kModelHertz = 16'000;  // what has less would be another recording

/// A flag of a program that changes no audio, and whether a word follows it.
struct Flag {
  std::string_view name;
  bool has_value = false;
  std::string_view value{};  ///< the only one that changes nothing; empty: any
};

/// How a program that decodes names its input.
struct Decoder {
  std::string_view program;
  std::span<const Flag> flags;
  std::string_view input{};  ///< the flag before its file; empty: none
  bool has_output = false;   ///< "-" follows, for its output
};

constexpr Flag kFlac[] = {{"-c"}, {"-d"}, {"-s"}};
constexpr Flag kSphere[] = {{"-f", true, "wav"}, {"-p"}};
constexpr Flag kSox[] = {{"-t", true, "wav"},
                         {"-b", true, "16"},
                         {"-e", true, "signed-integer"},
                         {"-c", true, "1"},
                         {"-r", true},
                         {"-G"},
                         {"-V0"},
                         {"-V1"}};
constexpr Flag kFfmpeg[] = {{"-f", true, "wav"},
                            {"-ar", true},
                            {"-ac", true, "1"},
                            {"-vn"},
                            {"-nostdin"},
                            {"-hide_banner"},
                            {"-y"},
                            {"-loglevel", true},
                            {"-v", true},
                            {"-threads", true},
                            {"-acodec", true, "pcm_s16le"},
                            {"-c:a", true, "pcm_s16le"}};
constexpr Decoder kDecoders[] = {
    {"cat", {}}, {"flac", kFlac}, {"sph2pipe", kSphere}, {"sox", kSox, {}, true}, {"ffmpeg", kFfmpeg, "-i", true}};

/// "-cds" as "-c", "-d" and "-s".
std::vector<std::string> parted(CommandWords words, const Decoder& decoder) {
  std::vector<std::string> all;
  for (const std::string& word : words) {
    const bool is_joined = decoder.program == "flac" && word.size() > 2 && word[0] == '-' && word[1] != '-';
    if (!is_joined) all.push_back(word);
    for (std::size_t i = 1; is_joined && i < word.size(); ++i) all.push_back({'-', word[i]});
  }
  return all;
}

/// Whether the flag at words[i] changes nothing; moves `i` to its value.
bool is_harmless(const std::vector<std::string>& words, std::size_t& i, const Decoder& decoder) {
  const auto flag = std::ranges::find(decoder.flags, words[i], &Flag::name);
  if (flag == decoder.flags.end()) return false;
  if (!flag->has_value) return true;
  if (++i >= words.size()) return false;
  const std::string& value = words[i];
  if (flag->name == "-ar" || flag->name == "-r") {
    const bool is_thousands = value.ends_with('k');
    int rate = 0;
    std::from_chars(value.data(), value.data() + value.size(), rate);
    return (is_thousands ? rate * 1000 : rate) >= kModelHertz;
  }
  return flag->value.empty() || value == flag->value;
}

/// The file that the words behind the program's name decode; none where they do anything else.
std::optional<std::string> input_of(const std::vector<std::string>& words, const Decoder& decoder) {
  std::vector<std::string> files;
  bool has_output = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (decoder.has_output && i + 1 == words.size() && (word == "-" || word == "pipe:1"))
      has_output = true;
    else if (!decoder.input.empty() && word == decoder.input && i + 1 < words.size())
      files.push_back(words[++i]);
    else if (word.starts_with('-') ? !is_harmless(words, i, decoder) : !decoder.input.empty())
      return std::nullopt;
    else if (!word.starts_with('-') && decoder.input.empty())
      files.push_back(word);
  }
  const bool is_one = files.size() == 1 && has_output == decoder.has_output;
  return is_one ? std::optional(files.front()) : std::nullopt;
}

tl::unexpected<Error> not_understood(std::string_view command) {
  constexpr std::size_t kShown = 120;
  return fail(Fault::unsupported,
              "expected a file, or a command that only decodes one (cat, flac, sph2pipe, sox, ffmpeg), found '" +
                  std::string(command.substr(0, kShown)) + "'",
              "Write its output to a file, and name that: no command of a list is run");
}

/// The words of a command as a shell parts them: by blanks, quotes removed, a backslash before any character. No word
/// of it is expanded. Fault::unsupported where a character outside quotes would do more (| & ; < > ( ) $ ` * ?), or
/// where a quote is open.
Result<std::vector<std::string>> words_of_command(std::string_view command) {
  constexpr std::string_view kSpecial = "|&;<>()$`*?\n";
  std::vector<std::string> words;
  bool is_inside = false;  // a word
  char quote = 0;
  for (std::size_t i = 0; i < command.size(); ++i) {
    const char c = command[i];
    const bool is_blank = quote == 0 && (c == ' ' || c == '\t');
    if (is_blank) {
      is_inside = false;
      continue;
    }
    if (quote == 0 && kSpecial.find(c) != kSpecial.npos) return not_understood(command);
    if (quote == '"' && (c == '$' || c == '`')) return not_understood(command);
    if (!std::exchange(is_inside, true)) words.emplace_back();
    if (quote != 0 && c == quote)
      quote = 0;
    else if (quote == 0 && (c == '"' || c == '\''))
      quote = c;
    else if (c == '\\' && quote != '\'' && i + 1 < command.size())
      words.back() += command[++i];
    else
      words.back() += c;
  }
  if (quote != 0) return not_understood(command);
  return words;
}

}  // namespace

Result<std::string> file_of_command(std::string_view command) {
  std::string_view without_pipe = trimmed(command);
  if (without_pipe.ends_with('|')) without_pipe.remove_suffix(1);
  auto words = TRY(words_of_command(trimmed(without_pipe)));
  if (words.empty()) return not_understood(command);
  const std::string program = std::filesystem::path(words.front()).filename().string();
  const auto decoder = std::ranges::find(kDecoders, program, &Decoder::program);
  if (decoder == std::end(kDecoders)) return not_understood(command);
  auto file = input_of(parted(std::span(words).subspan(1), *decoder), *decoder);
  if (!file || file->find('\0') != std::string::npos) return not_understood(command);
  return std::move(*file);
}

}  // namespace tutti
