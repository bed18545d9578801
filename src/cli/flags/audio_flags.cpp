#include "cli/flags/audio_flags.h"

#include "base/numbers.h"

namespace tutti {

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

}  // namespace tutti
