#include "metrics/perfetto_track.h"

#include <algorithm>
#include <utility>

#include "base/protobuf_message.h"

namespace tutti {
namespace {

// Fields by message, as in Perfetto's .proto files.
enum TraceField : std::uint32_t { kPacket = 1 };
enum PacketField : std::uint32_t {
  kClockSnapshot = 6,
  kTimestamp = 8,
  kSequenceId = 10,
  kTrackEvent = 11,
  kInternedData = 12,
  kSequenceFlags = 13,
  kTimestampClock = 58,  // of a packet's defaults, too
  kPacketDefaults = 59,
  kTrackDescriptor = 60
};
enum SnapshotField : std::uint32_t { kClocks = 1, kPrimaryClock = 2 };
enum ClockField : std::uint32_t { kClockId = 1, kClockTime = 2, kIsIncremental = 3 };
enum EventField : std::uint32_t { kType = 9, kNameId = 10, kEventTrack = 11 };
enum NameField : std::uint32_t { kEventNames = 2, kId = 1, kName = 2 };
enum TrackField : std::uint32_t { kUuid = 1, kTrackName = 2, kProcess = 3, kParent = 5 };
enum ProcessField : std::uint32_t { kPid = 1, kCommandLine = 2, kProcessName = 6 };

constexpr std::uint64_t kSliceBegin = 1, kSliceEnd = 2;
constexpr std::uint64_t kStateCleared = 1, kNeedsState = 2;
constexpr std::uint64_t kMonotonic = 3;  // Perfetto's number of that clock
constexpr std::uint64_t kOwnClock = 64;  // the first that a sequence may define

/// A track has the number of its sequence: unlike others' of the trace, and short.
std::uint64_t uuid_of(std::uint32_t sequence) {
  return sequence;
}

ProtobufMessage sequence_of(std::uint32_t sequence) {
  return ProtobufMessage().number(kSequenceId, sequence);
}

std::string in_trace(const ProtobufMessage& packet) {
  return ProtobufMessage().message(kPacket, packet).bytes();
}

}  // namespace

PerfettoTrack::PerfettoTrack(std::uint32_t sequence, std::uint32_t parent, std::string_view name)
    : name_(name), sequence_(sequence), parent_(parent) {}

/// Describes the row, sets its own clock, which counts from packet to packet, and what its packets need not repeat.
void PerfettoTrack::begin(TraceTime at) {
  has_begun_ = true;
  last_ = at;
  const ProtobufMessage track =
      ProtobufMessage().number(kUuid, uuid_of(sequence_)).text(kTrackName, name_).number(kParent, uuid_of(parent_));
  bytes_ += in_trace(sequence_of(sequence_).message(kTrackDescriptor, track));
  const auto now = static_cast<std::uint64_t>(at.count());
  const ProtobufMessage own =
      ProtobufMessage().number(kClockId, kOwnClock).number(kClockTime, 0).number(kIsIncremental, 1);
  const ProtobufMessage monotonic = ProtobufMessage().number(kClockId, kMonotonic).number(kClockTime, now);
  const ProtobufMessage clocks =
      ProtobufMessage().message(kClocks, own).message(kClocks, monotonic).number(kPrimaryClock, kMonotonic);
  const ProtobufMessage events = ProtobufMessage().number(kEventTrack, uuid_of(sequence_));
  const ProtobufMessage defaults = ProtobufMessage().number(kTimestampClock, kOwnClock).message(kTrackEvent, events);
  bytes_ += in_trace(sequence_of(sequence_)
                         .number(kSequenceFlags, kStateCleared)
                         .message(kClockSnapshot, clocks)
                         .message(kPacketDefaults, defaults));
}

void PerfettoTrack::event(std::uint64_t type, std::uint64_t name, TraceTime at, std::string_view new_name) {
  ProtobufMessage packet = ProtobufMessage().number(kTimestamp, static_cast<std::uint64_t>((at - last_).count()));
  packet.number(kSequenceId, sequence_).number(kSequenceFlags, kNeedsState);
  ProtobufMessage what = ProtobufMessage().number(kType, type);
  if (name > 0) what.number(kNameId, name);
  packet.message(kTrackEvent, what);
  if (!new_name.empty())
    packet.message(kInternedData,
                   ProtobufMessage().message(kEventNames, ProtobufMessage().number(kId, name).text(kName, new_name)));
  last_ = at;
  bytes_ += in_trace(packet);
}

void PerfettoTrack::slice(std::string_view name, TraceTime start, TraceTime end) {
  if (!has_begun_) begin(start);
  start = std::max(start, last_);
  const auto known = names_.find(name);
  const bool is_new = known == names_.end();
  const std::uint64_t id = is_new ? names_.emplace(name, names_.size() + 1).first->second : known->second;
  event(kSliceBegin, id, start, is_new ? name : std::string_view());
  event(kSliceEnd, 0, std::max(start, end), {});
}

std::string PerfettoTrack::take() {
  return std::exchange(bytes_, {});
}

std::string perfetto_process(std::uint32_t sequence, int process, std::string_view name, const std::string& command) {
  ProtobufMessage described = ProtobufMessage().number(kPid, static_cast<std::uint64_t>(process));
  if (!command.empty()) described.text(kCommandLine, command);
  described.text(kProcessName, name);
  const ProtobufMessage track = ProtobufMessage().number(kUuid, uuid_of(sequence)).message(kProcess, described);
  return in_trace(sequence_of(sequence).message(kTrackDescriptor, track));
}

}  // namespace tutti
