#include "transcribe/file_list.h"

namespace tutti {

void FileList::serve(const TranscriptionContext* context) {
  ready_.change([&](auto& ready) { ready = context; });
}

std::optional<ClaimedFile> FileList::next() {
  while (next_ < files_.size() && files_[next_].already_done) ++next_;
  if (next_ == files_.size()) return std::nullopt;
  const std::size_t index = next_++;
  return ClaimedFile{index, files_[index].input};
}

const TranscriptionContext* FileList::context(std::size_t /*index*/) {
  return ready_.wait([](const auto& ready) { return ready.has_value(); }, [](const auto& ready) { return *ready; });
}

Result<void> FileList::publish(TranscribedFile& file) {
  const PlannedFile& planned = files_[file.outcome.index];
  for (const auto& output : planned.outputs) {
    const auto format = parse_formats(output.extension().string().substr(1)).value().front();
    const auto content = format_transcript(file.transcript, format, writer_);
    if (!content) return tl::unexpected(content.error());
    const auto replaced = ownership_.write(output, *content);
    if (!replaced) return tl::unexpected(replaced.error());
    if (*replaced) file.outcome.replaced.push_back(output);
  }
  file.outcome.outputs = planned.outputs;
  return {};
}

}  // namespace tutti
