#include "serve/openai/live_upload.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "base/field_names.h"
#include "base/numbers.h"
#include "base/try.h"
#include "flow/failures.h"

namespace tutti {
namespace {

constexpr Seconds kLookAfter{1};  // of the upload: a file that is there by then is transcribed as a file
constexpr double kMostOfSpoken = 2;
constexpr std::size_t kHeader = 4096;  // bytes
constexpr Seconds kLost{0.1};          // that a header promises, and that do not come

Result<std::size_t> read_at(int fd, std::uint64_t at, std::span<std::byte> into) {
  const ssize_t got = ::pread(fd, into.data(), into.size(), static_cast<off_t>(at));
  if (got < 0) return fail_errno("the upload", "cannot be read");
  return static_cast<std::size_t>(got);
}

}  // namespace

bool UploadRate::is_live(const Upload& upload, Seconds now) {
  if (is_other_ || now < kLookAfter) return false;
  if (!bytes_a_second_) {
    std::array<std::byte, kHeader> header;
    const auto got = read_at(upload.file.get(), 0, header);
    PcmStream probe(upload.name, [](std::span<const std::int16_t>) { return Result<void>(); });
    is_other_ = !got || !probe.feed(std::span(header).first(*got)) || (!probe.format() && *got == header.size());
    if (is_other_ || !probe.format()) return false;
    bytes_a_second_ = std::int64_t{probe.format()->rate.value} * probe.format()->bytes_of_frame();
  }
  return static_cast<double>(upload.size) <= kMostOfSpoken * static_cast<double>(*bytes_a_second_) * now.count();
}

Result<std::unique_ptr<LiveUpload>> LiveUpload::start(SpeechService& service, SpeechForm form, OwnedFd file,
                                                      std::shared_ptr<HttpExchange> exchange, HttpAnswer head,
                                                      std::shared_ptr<LiveSessions::Admission> admission) {
  const FieldNamesScope names(FieldNames::fields);
  const SpeechOptions options = as_live(form.options);
  std::unique_ptr<LiveUpload> upload(
      new LiveUpload(std::move(form), std::move(file), std::move(exchange), std::move(admission)));
  upload->stream_ = TRY(service.listen(options, *upload));
  upload->exchange_->begin_stream(std::move(head));
  upload->reading_ = std::jthread([all = upload.get()] { all->run(); });
  upload->admission_->enter(*upload);
  return upload;
}

LiveUpload::LiveUpload(SpeechForm form, OwnedFd file, std::shared_ptr<HttpExchange> exchange,
                       std::shared_ptr<LiveSessions::Admission> admission)
    : form_(std::move(form)), fd_(std::move(file)), exchange_(std::move(exchange)), admission_(std::move(admission)) {}

LiveUpload::~LiveUpload() {
  admission_->leave();
  abandon();
}

void LiveUpload::abandon() {
  file_.change([](File& file) { file.abandoned = true; });
  if (stream_) stream_->cancel();
}

void LiveUpload::grew(std::uint64_t size) {
  file_.change([size](File& file) { file.size = size; });
}

void LiveUpload::complete(const std::optional<ApiError>& problem) {
  if (problem) fail_with(*problem);
  file_.change([&](File& file) { (problem ? file.abandoned : file.complete) = true; });
}

void LiveUpload::run() {
  const FieldNamesScope names(FieldNames::fields);
  const auto read_all = [this]() -> Result<void> {
    try {
      return read();
    } catch (...) {
      return tl::unexpected<Error>(error_of_exception("the upload"));
    }
  };
  if (const auto done = read_all(); !done) {
    if (done.error().fault != Fault::cancelled) fail_with(api_error_of(done.error(), "file"));
    stream_->cancel();
  }
  stream_->wait();
  over_ = true;
}

Result<void> LiveUpload::read() {
  constexpr std::size_t kBlock = std::size_t{64} << 10;
  PcmStream pcm("file", [this](std::span<const std::int16_t> samples) -> Result<void> {
    const Seconds length = length_of(std::ssize(samples), kModelRate);
    duration_ += length;
    admission_->add_audio(length);
    if (stream_->feed(samples)) return {};
    return fail(Fault::cancelled, "the upload: cancelled");
  });
  std::vector<std::byte> block(kBlock);
  std::uint64_t at = 0;
  for (;;) {
    const File file = file_.wait([at](const File& now) { return now.abandoned || now.complete || now.size > at; },
                                 [](const File& now) { return now; });
    if (file.abandoned) return fail(Fault::cancelled, "the upload: cancelled");
    if (file.size == at) break;
    const auto got =
        TRY(read_at(fd_.get(), at, std::span(block).first(std::min<std::uint64_t>(kBlock, file.size - at))));
    if (auto fed = pcm.feed(std::span(block).first(got)); !fed) return fed;
    at += got;
  }
  if (auto finished = pcm.finish(); !finished) return finished;
  if (pcm.missing() > kLost)
    losses_.push_back("the recording is truncated: it ended " + fixed_text(pcm.missing().count(), 1) +
                      " s before the end that its header claims");
  stream_->finish();
  return {};
}

void LiveUpload::on_final(const Caption& caption) {
  segments_.add(caption);
  const std::string event = events_.delta({Segment{.text = caption.text}});
  if (!event.empty()) exchange_->send(event);
}

void LiveUpload::on_end(const Result<void>& end) {
  if (!end) {
    if (end.error().fault != Fault::cancelled) fail_with(api_error_of(end.error(), "file"));
    return;
  }
  if (has_ended_.with([](bool& ended) { return std::exchange(ended, true); })) return;
  const std::string language = form_.options.long_form.language.value_or("");
  exchange_->send(events_.done(segments_.transcript(language), {.duration = duration_, .losses = losses_}));
  exchange_->end_stream();
}

void LiveUpload::fail_with(const ApiError& error) {
  if (has_ended_.with([](bool& ended) { return std::exchange(ended, true); })) return;
  exchange_->send("data: " + error_json(error) + "\n\n");
  exchange_->end_stream();
}

}  // namespace tutti
