#include "feed/voice/voice_format.h"

#include "base/json.h"

namespace tutti {

std::string show_voice_format(const VoiceFormat& format) {
  const auto& mel = format.mel;
  return json_line(nlohmann::ordered_json{{"rate", mel.rate.value},
                                          {"n_fft", mel.n_fft},
                                          {"window", mel.window},
                                          {"hop", mel.hop},
                                          {"n_mels", mel.n_mels},
                                          {"lowest_hz", mel.lowest},
                                          {"highest_hz", mel.top()},
                                          {"mean", format.mean},
                                          {"deviation", format.deviation},
                                          {"pitch_mean", format.pitch_mean},
                                          {"pitch_deviation", format.pitch_deviation},
                                          {"symbols", format.symbols},
                                          {"speakers", format.speakers},
                                          {"language", format.language},
                                          {"kind", format.kind},
                                          {"label", format.label}});
}

Result<VoiceFormat> read_voice_format(std::string_view json) {
  VoiceFormat format;
  try {
    const auto read = nlohmann::ordered_json::parse(json.begin(), json.end());
    auto& mel = format.mel;
    read.at("rate").get_to(mel.rate.value);
    read.at("n_fft").get_to(mel.n_fft);
    read.at("window").get_to(mel.window);
    read.at("hop").get_to(mel.hop);
    read.at("n_mels").get_to(mel.n_mels);
    read.at("lowest_hz").get_to(mel.lowest);
    read.at("highest_hz").get_to(mel.highest);
    read.at("mean").get_to(format.mean);
    read.at("deviation").get_to(format.deviation);
    read.at("pitch_mean").get_to(format.pitch_mean);
    read.at("pitch_deviation").get_to(format.pitch_deviation);
    read.at("symbols").get_to(format.symbols);
    read.at("speakers").get_to(format.speakers);
    read.at("language").get_to(format.language);
    read.at("kind").get_to(format.kind);
    read.at("label").get_to(format.label);
  } catch (const nlohmann::json::exception& problem) {
    return fail(Fault::corrupt, std::string("its format cannot be read: ") + problem.what());
  }
  if (auto valid = check(format.mel); !valid) return fail(Fault::corrupt, valid.error().what);
  if (std::ssize(format.mean) != format.mel.n_mels)
    return fail(Fault::corrupt, "expected a mean for each of " + std::to_string(format.mel.n_mels) + " bins, found " +
                                    std::to_string(format.mean.size()));
  return format;
}

}  // namespace tutti
