#pragma once

#include <vector>

#include "audio/audio_choice.h"
#include "audio/ffmpeg/api.h"
#include "base/error.h"

namespace tutti {

/// How much each channel counts in a mono signal.
struct ChannelMix {
  std::vector<double> weights{};  // one per channel
  bool is_usual = true;           // what libswresample does by itself for `layout`
};

/// With a layout FFmpeg's mix, in which no channel is left out: LFE counts like the centre, since recorders write
/// voices to any channel. Without a layout, or with one that FFmpeg cannot mix, the average. Fault::unsupported where
/// `choice` names a channel that is not there.
Result<ChannelMix> channel_mix(const ResamplerApi& api, const AVChannelLayout& layout, const AudioChoice& choice);

}  // namespace tutti
