#include "transcribe/prefetch/look_ahead.h"

#include <linux/magic.h>
#include <sys/vfs.h>

#include <algorithm>

#include "base/files.h"

namespace tutti {
namespace {

constexpr std::int64_t kShare = 8, kLeast = 64 << 20;

bool is_in_memory(const std::string& folder) {
  struct statfs facts {};
  if (::statfs(folder.c_str(), &facts) != 0) return false;
  return facts.f_type == TMPFS_MAGIC || facts.f_type == RAMFS_MAGIC;
}

}  // namespace

std::size_t LookAhead::bytes_of(const Recording& recording) const {
  return samples_in_memory ? static_cast<std::size_t>(recording.samples()) * sizeof(std::int16_t) : 0;
}

std::size_t LookAhead::bytes_of(const DecodedFile& file) const {
  return file.speech.size() * sizeof(float) + bytes_of(file.recording);
}

std::size_t LookAhead::bytes_of(const Work& work) const {
  if (const auto* whole = std::get_if<SequentialFile>(&work)) return bytes_of(whole->decoded);
  const ChunkMel& mel = std::get<ChunkWork>(work).mel;
  return static_cast<std::size_t>(mel.frames() * mel.n_mels()) * sizeof(float);
}

LookAhead look_ahead(const std::optional<MemoryFacts>& memory, bool samples_in_memory) {
  LookAhead ahead{.samples_in_memory = samples_in_memory};
  if (!memory) return ahead;
  const auto budget = static_cast<std::size_t>(std::max(kLeast, memory->available.value / kShare));
  ahead.decoded = budget / 4;
  ahead.prepared = budget / 2;
  return ahead;
}

LookAhead look_ahead() {
  return look_ahead(read_memory(), is_in_memory(temporary_folder()));
}

}  // namespace tutti
