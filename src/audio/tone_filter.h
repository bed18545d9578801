#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "audio/tone_phase.h"

namespace tutti {

/// The keyed tone of a window, as models of Morse take it that were trained on nothing else: always at the same pitches
/// and equally loud, whatever its own pitch and level are.
///
/// pcm: [n] at 16 kHz, mono -> [n]; sample i of both is the same moment. Silence where n is below 800 (50 ms).
///
/// The tone is the line from 250 to 1406 Hz that comes and goes and is farthest over what is beside it. It is followed
/// where it drifts, up to 150 Hz to either side, and where another station answers there.
///
/// `target`: the pitch in Hz of the station that is to be read, 250 to 1400. Its line alone is followed then, 20 Hz to
/// either side, however loud what is beside it, and the copies are narrower, which leave a station 40 Hz away out.
/// Where no line stands out there, the window is silent.
///
/// By linear phase it is low-passed and put at fixed pitches:
/// * at 600 Hz with 60 Hz to either side, which has all of its edges;
/// * at 1000 and 1300 Hz with 25 and 12 Hz, which have less of the noise;
/// * at 1600 and 2900 Hz the same in phase with its carrier, which has half of that noise wherever the phase can be
///   followed (tone_phase.h);
/// * at 2200 Hz with 250 Hz, which shows what is beside it.
///
/// Its level is that of its own key-down within 1.5 s, a tenth of the loudest at least. What is 2.5 times as loud is
/// cut there.
///
/// A function of the samples alone: the same window gives the same tone, whatever was there before. Processors of other
/// generations may round differently in the last bits.
///
/// Never fails but for memory. Thread-safe.
std::vector<std::int16_t> keyed_tone(std::span<const std::int16_t> pcm, std::optional<double> target = {});

/// The same tone before it is put anywhere: mixed down and turned into phase with its carrier, at kToneRate, its level
/// as it is. Empty where the window is silent or below 800 samples, or no line is at `target`. Thread-safe.
std::vector<ToneSample> carrier_in_phase(std::span<const std::int16_t> pcm, std::optional<double> target = {});

}  // namespace tutti
