#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "transcribe/batched_file.h"
#include "transcribe/file_transcription.h"
#include "transcribe/mel_source.h"

namespace tutti {

/// One chunk of a file, read ahead: its mel, or for an engine of others its PCM.
struct ChunkWork {
  std::shared_ptr<BatchedFile> file;
  std::size_t chunk = 0;
  std::variant<std::vector<float>, ChunkMel> audio;
};

/// The work of the transcribe stage's threads: each holds one window in flight at most.
using Work = std::variant<SequentialFile, ChunkWork>;

/// Hands work on; false: no thread takes it any more.
using HandOn = std::function<bool(Work&&)>;

/// The file that a piece of work belongs to, for as long as the work is there.
const DecodedFile& decoded_of(const Work& work);

/// Makes work of a file and hands it on: the whole file for the reference's loop, or one by one its chunks with their
/// mel, as fast as `hand_on` takes them, so that no more mel is held than that lets through. A file without speech has
/// no chunks and goes to the loop, which then only settles the language; an engine of others gets nothing of it. A file
/// that fails on the way yields its error once: from here, or from the last of its work in flight. Fault::cancelled
/// soon after `aborted`.
Result<void> prepare_work(DecodedFile file, const TranscriptionContext& context, const std::atomic<bool>& aborted,
                          const HandOn& hand_on);

/// Does the work. Yields the file when this was the last of its work, or what it failed with. Blocks; any number of
/// threads.
std::optional<Result<TranscribedFile>> transcribe_work(Work& work, const TranscriptionContext& context);

/// Work that is not to be done because of `why`; yields what transcribe_work would.
std::optional<Result<TranscribedFile>> discard_work(const Work& work, const Error& why);

}  // namespace tutti
