#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "audio/recording.h"
#include "base/files.h"

namespace tutti {

/// A recording of the given samples.
inline Recording recording_of(std::span<const std::int16_t> pcm) {
  auto file = open_unnamed_file();
  if (!file || !write_all(file->get(), std::as_bytes(pcm), "test audio")) throw std::runtime_error("no temporary file");
  return Recording(std::move(*file), static_cast<std::int64_t>(pcm.size()), {});
}

/// All samples of a recording.
inline std::vector<std::int16_t> all_of(const Recording& recording) {
  std::vector<std::int16_t> pcm(static_cast<std::size_t>(recording.samples()));
  if (auto read = recording.read(0, pcm); !read) throw std::runtime_error(read.error().text());
  return pcm;
}

/// White noise at full scale, the same numbers as noise() in tools/golden/mel.py.
inline std::vector<std::int16_t> noise(std::size_t samples) {
  std::vector<std::int16_t> out;
  for (std::uint32_t state = 1; out.size() < samples;) {
    state = state * 1664525U + 1013904223U;
    out.push_back(static_cast<std::int16_t>(static_cast<int>(state >> 16) - 32768));
  }
  return out;
}

/// Writes a WAV file of 16-bit mono samples and returns its path.
inline std::filesystem::path write_wav(const std::filesystem::path& path, std::span<const std::int16_t> pcm,
                                       std::uint32_t rate = 16000) {
  const auto size = static_cast<std::uint32_t>(pcm.size_bytes());
  const auto number = [](std::uint32_t value, std::size_t bytes) {
    return std::string(reinterpret_cast<const char*>(&value), bytes);
  };
  const std::string head = "RIFF" + number(size + 36, 4) + "WAVEfmt " + number(16, 4) + number(1, 2) + number(1, 2) +
                           number(rate, 4) + number(rate * 2, 4) + number(2, 2) + number(16, 2) + "data" +
                           number(size, 4);
  const std::string_view samples(reinterpret_cast<const char*>(pcm.data()), pcm.size_bytes());
  if (!write_file_atomically(path, head + std::string(samples)))
    throw std::runtime_error("cannot write " + path.string());
  return path;
}

}  // namespace tutti
