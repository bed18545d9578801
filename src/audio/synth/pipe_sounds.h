#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/random/counter_random.h"

namespace tutti {

/// What makes a sound on and beside a water pipe, at kLeakRate (leak_clip.h).
enum class PipeSource { leak, crack, flow, pump, tap, traffic, speech, knocks, hum };

/// "leak", "crack", ...
std::string_view name_of(PipeSource source);

/// A pipe between two joints, as it sounds to a hydrophone: some modes, and high frequencies that die away.
struct Pipe {
  std::array<double, 3> modes_hz{};
  double sharpness = 5;       ///< quality of the modes
  double strength = 1;        ///< level of the modes beside the direct sound
  double reach_hz_m = 60000;  ///< frequency times distance where half of the power has gone
};

/// Metal pipes carry far and ring, plastic ones do neither.
Pipe drawn_pipe(CounterRandom& random);

/// A sound at its origin, of no certain level.
std::vector<float> audio_of(PipeSource source, std::int64_t samples, CounterRandom& random);

/// The same at the hydrophone, `distance_m` along the pipe.
void carry(std::span<float> audio, const Pipe& pipe, double distance_m);

}  // namespace tutti
