#pragma once

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>

namespace tutti {

/// Writes a WAV of a tone at 8 kHz, 16 bits, with a pause of a quarter second in every three: the energy detector takes
/// it for speech, and none of another pitch is like it.
inline void write_tone(const std::filesystem::path& path, double seconds, double pitch) {
  const auto samples = static_cast<std::uint32_t>(seconds * 8000);
  std::ofstream out(path, std::ios::binary);
  const auto put = [&](std::uint32_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) out.put(static_cast<char>(value >> (8 * i)));
  };
  out << "RIFF";
  put(36 + 2 * samples, 4);
  out << "WAVEfmt ";
  put(16, 4);
  put(1, 2);
  put(1, 2);
  put(8000, 4);
  put(16000, 4);
  put(2, 2);
  put(16, 2);
  out << "data";
  put(2 * samples, 4);
  for (std::uint32_t i = 0; i < samples; ++i) {
    const double loudness = i % 24000 < 22000 ? 9000 : 0;
    put(static_cast<std::uint16_t>(static_cast<std::int16_t>(loudness * std::sin(2 * 3.14159265 * pitch * i / 8000))),
        2);
  }
}

}  // namespace tutti
