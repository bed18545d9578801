#include "train/report/tensorboard_writer.h"

#include <fcntl.h>

#include <array>
#include <bit>
#include <chrono>
#include <span>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "base/protobuf_message.h"
#include "base/try.h"

namespace tutti {

Result<GrowingFile> GrowingFile::open(const std::filesystem::path& path) {
  OwnedFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (!file) return fail_errno(path.string(), "could not be opened");
  return GrowingFile(std::move(file), path.string());
}

void GrowingFile::add(std::string_view bytes) {
  const auto written = write_all(file_.get(), std::as_bytes(std::span(bytes)), name_);
  if (written || complained_) return;
  complained_ = true;
  log(Level::warning, written.error().text());
}

namespace {

constexpr std::array<std::uint32_t, 256> crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? 0x82F63B78U : 0);
    table[i] = crc;
  }
  return table;
}

/// CRC-32C, rotated and shifted as records want it.
std::uint32_t masked_crc(std::string_view bytes) {
  static constexpr auto kTable = crc_table();
  std::uint32_t crc = 0xFFFFFFFFU;
  for (const char c : bytes) crc = kTable[(crc ^ static_cast<unsigned char>(c)) & 0xFF] ^ (crc >> 8);
  return std::rotr(~crc, 15) + 0xA282EAD8U;
}

template <class T>
std::string raw(T value) {
  ByteWriter writer;
  writer.put(value);
  return writer.take();
}

// Fields by message, as in TensorFlow's .proto files.
enum EventField : std::uint32_t { kWallTime = 1, kStep = 2, kFileVersion = 3, kSummary = 5 };
enum SummaryField : std::uint32_t { kValue = 1 };
enum ValueField : std::uint32_t { kTag = 1, kScalar = 2 };

std::string framed(const std::string& message) {
  const auto size = raw(static_cast<std::uint64_t>(message.size()));
  return size + raw(masked_crc(size)) + message + raw(masked_crc(message));
}

double now() {
  return unix_seconds(std::chrono::system_clock::now());
}

}  // namespace

std::string event_file_version(double wall_time) {
  return framed(ProtobufMessage().real(kWallTime, wall_time).text(kFileVersion, "brain.Event:2").bytes());
}

std::string event_record(double wall_time, std::int64_t step, std::span<const EventScalar> scalars) {
  ProtobufMessage summary;
  for (const auto& scalar : scalars)
    summary.message(kValue, ProtobufMessage().text(kTag, scalar.tag).real(kScalar, static_cast<float>(scalar.value)));
  return framed(ProtobufMessage()
                    .real(kWallTime, wall_time)
                    .number(kStep, static_cast<std::uint64_t>(step))
                    .message(kSummary, summary)
                    .bytes());
}

Result<EventFile> EventFile::create(const std::filesystem::path& folder) {
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);
  const auto path = folder / ("events.out.tfevents." + std::to_string(static_cast<std::int64_t>(now())) + ".tutti");
  auto file = TRY(GrowingFile::open(path));
  EventFile events(std::move(file));
  events.file_.add(event_file_version(now()));
  return events;
}

void EventFile::add(std::int64_t step, std::span<const EventScalar> scalars) {
  file_.add(event_record(now(), step, scalars));
}

}  // namespace tutti
