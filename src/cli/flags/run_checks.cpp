#include "cli/flags/run_checks.h"

#include "base/strings/ascii.h"
#include "cli/settings/values.h"
#include "device/device_spec.h"
#include "text/languages.h"

namespace tutti {

Result<void> check_thread_count(const char* flag, std::int32_t count) {
  constexpr std::int32_t kMostThreads = 1024;  // beyond, thread after thread is made and nothing else happens
  if (count >= 0 && count <= kMostThreads) return {};
  return fail(Fault::usage,
              std::string(flag) + ": expected 0 to " + show_value(kMostThreads) + ", found " + show_value(count));
}

Result<void> check_machine(const MachineFlags& flags) {
  const auto device = parse_device(flags.device);
  if (!device) return fail_in("--device", device.error());
  if (auto counted = check_thread_count("--threads", flags.threads); !counted) return counted;
  if (auto counted = check_thread_count("--files-at-once", flags.files_at_once); !counted)
    return counted;  // a thread each
  if (!device->core || flags.threads <= 1) return {};
  return fail(Fault::usage,
              "--threads " + show_value(flags.threads) + ": " + flags.device + " is one core, for one thread",
              "Leave --threads out, or take the whole processor: --device cpu");
}

Result<std::string> language_code_of(const std::string& language) {
  if (const auto code = to_language_code(language)) return std::string(*code);
  if (const auto code = language_of_tag(language)) return std::string(*code);
  if (ascii_lower(language) == "auto")
    return fail(Fault::usage, "--language: expected the language of the texts, found auto",
                "Give a code, a tag or an English name (de, zh-CN, German)");
  return fail(Fault::usage, "--language: '" + language + "' is no language Whisper knows",
              "Give a code, a tag or an English name (de, zh-CN, German), or auto to have it detected");
}

std::optional<std::string> plain_language(const std::optional<std::string>& language) {
  if (!language || ascii_lower(*language) == "auto") return std::nullopt;
  if (to_language_code(*language)) return language;
  if (const auto code = language_of_tag(*language)) return std::string(*code);
  return language;
}

}  // namespace tutti
