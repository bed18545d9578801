#include "cli/flags.h"

#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/numbers.h"
#include "base/output_ownership.h"
#include "base/strings.h"
#include "device/device_spec.h"
#include "device/emulated_spec.h"
#include "hub/memory_plan.h"
#include "settings/values.h"
#include "text/languages.h"

namespace tutti {

void add_compute_type(OptionTable& table, std::string& type, std::string meaning) {
  table.add("compute-type", type, "TYPE", std::move(meaning)).choices = {kComputeTypes.begin(), kComputeTypes.end()};
}

Result<void> expect_ranges(std::span<const FlagRange> ranges) {
  for (const auto& [flag, value, least, most] : ranges)
    if (!(value >= least && value <= most))
      return fail(Fault::usage, std::string(flag) + ": expected " + number_text(least) + " to " + number_text(most) +
                                    ", found " + number_text(value));
  return {};
}

Result<void> expect_not_typed(OptionTable& table, std::initializer_list<const char*> names, const std::string& why) {
  for (const char* name : names)
    if (table.given_by(name) == SourceKind::flag)
      return fail(Fault::usage, "--" + std::string(name) + why, "Leave it out");
  return {};
}

Result<void> check_thread_count(const char* flag, std::int32_t count) {
  constexpr std::int32_t kThreadLimit = 1024;  // beyond, thread after thread is made and nothing else happens
  if (count >= 0 && count <= kThreadLimit) return {};
  return fail(Fault::usage,
              std::string(flag) + ": expected 0 to " + show_value(kThreadLimit) + ", found " + show_value(count));
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

void add_audio(OptionTable& table, AudioFlags& flags) {
  table.add("track", flags.track, "N|None",
            "decode this audio track, from 1 as the warning about several tracks counts; None: the default track, or "
            "where it has no speech the one with most");
  table.add("channel", flags.channel, "N|mix|None",
            "decode this channel alone, from 1; mix: all of them; None: all, or the loudest where they cancel out");
}

Result<AudioChoice> audio_choice(const AudioFlags& flags) {
  constexpr std::int32_t kMostChannels = 1024;
  AudioChoice choice{.track = flags.track.value_or(0)};
  if (flags.track && *flags.track < 1)
    return fail(Fault::usage, "--track: expected a number from 1 on, found " + show_value(*flags.track));
  if (!flags.channel) return choice;
  choice.channel = *flags.channel == "mix" ? AudioChoice::kMix : number_in<std::int32_t>(*flags.channel).value_or(0);
  if (*flags.channel != "mix" && (choice.channel < 1 || choice.channel > kMostChannels))
    return fail(Fault::usage, "--channel: expected a number from 1 on, or mix, found '" + *flags.channel + "'");
  return choice;
}

void add_tuning(OptionTable& table, TuningFlags& flags, const std::string& what) {
  table.add_switch("no-tune", flags.no_tune,
                   "leave the threads as they are at the start; without it a run measures its stages and sets " + what +
                       ", and later runs like it on this machine begin with them");
  table.add("memory", flags.memory, "SIZE",
            "what tuning may let the run take, such as 4GiB; default: four fifths of what is available");
}

Result<void> set_tuning(const TuningFlags& flags, TuningPlan& plan) {
  plan.is_on = !flags.no_tune;
  if (flags.memory.empty()) return {};
  plan.memory = parse_bytes(flags.memory);
  if (!plan.memory) plan.memory = parse_bytes(flags.memory + "B");
  if (!plan.memory || plan.memory->value <= 0)
    return fail(Fault::usage, "--memory: expected a size such as 4GiB, found '" + flags.memory + "'");
  return {};
}

namespace fs = std::filesystem;

namespace {

/// The folder in which its content is put together before it appears whole. None: a pipe or a device is written to
/// directly.
std::optional<fs::path> folder_to_write_in(const fs::path& file) {
  std::error_code ignored;
  if (fs::is_other(file, ignored)) return {};
  return folder_of(file);
}

}  // namespace

Result<void> expect_output_file(const std::string& flag, const fs::path& file) {
  const std::string thing = flag + " " + file.string();
  std::error_code why;
  if (fs::is_directory(file, why)) return fail(Fault::usage, thing + ": expected a file, found a folder");
  if (file.empty()) return {};
  const auto folder = folder_to_write_in(file);
  if (!folder) return {};
  why = why_not_writable(*folder);
  if (why) return tl::unexpected(system_error(thing, "cannot be written", why.value()));
  return {};
}

}  // namespace tutti
