#include "transcribe/done_command.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/field_names.h"
#include "base/log.h"
#include "base/process/shell_command.h"
#include "base/strings.h"

namespace tutti {
namespace {

constexpr std::string_view kInput = "input";

/// The command with `value_of` each name instead of that and its braces; where that is none, the text stays.
template <class ValueOf>
std::string filled_in(std::string_view text, const ValueOf& value_of) {
  std::string out;
  while (!text.empty()) {
    const std::size_t open = std::min(text.find('{'), text.size());
    out += text.substr(0, open);
    text.remove_prefix(open);
    if (text.empty()) break;
    const std::size_t close = text.find('}');
    const auto value =
        close == text.npos ? std::optional<std::string>() : value_of(std::string(text.substr(1, close - 1)));
    out += value ? *value : "{";
    text.remove_prefix(value ? close + 1 : 1);
  }
  return out;
}

}  // namespace

Result<void> DoneCommand::expect_outputs(std::span<const Format> formats) const {
  Result<void> all;
  filled_in(text_, [&](const std::string& name) -> std::optional<std::string> {
    const auto named = parse_formats(name);
    if (all && named && named->size() == 1 && std::ranges::find(formats, named->front()) == formats.end())
      all = fail(Fault::usage,
                 field("on_done") + ": expected " + name + " among the outputs for {" + name + "}, found " +
                     joined(formats, ", ", [](Format format) { return extension(format); }),
                 "Name it with " + field("output_format") + ", or take another output");
    return std::nullopt;
  });
  return all;
}

std::string DoneCommand::command_for(const std::filesystem::path& input,
                                     std::span<const std::filesystem::path> outputs) const {
  return filled_in(text_, [&](const std::string& name) -> std::optional<std::string> {
    if (name == kInput) return shell_word(input.string());
    const auto output =
        std::ranges::find(outputs, "." + name, [](const auto& path) { return path.extension().string(); });
    return output == outputs.end() ? std::nullopt : std::optional(shell_word(output->string()));
  });
}

void DoneCommand::run(const std::string& name, const std::filesystem::path& input,
                      std::span<const std::filesystem::path> outputs, const std::function<bool()>& goes_on) {
  const auto end = run_shell_command(command_for(input, outputs), "on-done", goes_on);
  if (end && end->status == 0 && end->signal == 0) return;
  ++failures_;
  log(Level::error, name + ": " + field("on_done") + ": the command " +
                        (end ? end->words : "could not be started: " + end.error().text()) +
                        ". The outputs are in place");
}

}  // namespace tutti
