#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/base64.h"
#include "base/json.h"
#include "held_requests.h"
#include "serve/realtime/live_sessions.h"
#include "serve/realtime/realtime_session.h"

namespace tutti {
namespace {

using Json = nlohmann::json;

/// Keeps what is sent.
class KeptSocket final : public SocketExchange {
 public:
  void send(std::string text) override { messages.push_back(Json::parse(text)); }
  void close(std::uint16_t code, std::string why) override {
    closed = code;
    reason = std::move(why);
  }

  std::vector<Json> messages{};
  std::optional<std::uint16_t> closed{};
  std::string reason{};
};

/// A session whose service takes no live audio.
class RealtimeEvents : public testing::Test {
 protected:
  RealtimeEvents() { session_.begin(socket_); }

  /// The event that answers one.
  Json answer_to(const std::string& message, bool is_text = true) {
    const std::size_t before = socket_->messages.size();
    EXPECT_TRUE(session_.take(message, is_text));
    EXPECT_EQ(socket_->messages.size(), before + 1) << message;
    return socket_->messages.back();
  }
  Json error_of(const std::string& message, bool is_text = true) {
    const Json event = answer_to(message, is_text);
    EXPECT_EQ(event["type"], "error") << event.dump();
    return event.value("error", Json::object());
  }
  Json update(const Json& session) { return answer_to(Json{{"type", "session.update"}, {"session", session}}.dump()); }

  HeldRequests service_{};
  ModelNames models_{"tiny.en", "/models/tiny.en", {}, "whisper-1"};
  SpeechOptions usual_{};
  LiveSessions sessions_{2};
  RealtimeEndpoint endpoint_{service_, models_, usual_};
  std::shared_ptr<KeptSocket> socket_ = std::make_shared<KeptSocket>();
  RealtimeSession session_{endpoint_, "req_1", sessions_.admit("a client")};
};

Json input_of(const Json& input) {
  return {{"type", "transcription"}, {"audio", {{"input", input}}}};
}

TEST_F(RealtimeEvents, BeginWithTheSessionAsItIs) {
  ASSERT_EQ(socket_->messages.size(), 1U);
  const Json& created = socket_->messages.front();
  EXPECT_EQ(created["type"], "session.created");
  EXPECT_EQ(created["session"]["type"], "transcription");
  EXPECT_EQ(created["session"]["audio"]["input"]["format"]["rate"], 24000);
  EXPECT_EQ(created["session"]["audio"]["input"]["turn_detection"]["type"], "server_vad");
  EXPECT_FALSE(created["event_id"].get<std::string>().empty());
}

TEST_F(RealtimeEvents, UpdateTakesFormatLanguageAndTurns) {
  const Json updated = update(input_of({{"format", {{"type", "audio/pcm"}, {"rate", 16000}}},
                                        {"turn_detection", nullptr},
                                        {"transcription", {{"model", "whisper-1"}, {"language", "English"}}}}));
  ASSERT_EQ(updated["type"], "session.updated");
  const Json& input = updated["session"]["audio"]["input"];
  EXPECT_EQ(input["format"]["rate"], 16000);
  EXPECT_EQ(input["transcription"]["language"], "en");
  EXPECT_TRUE(input["turn_detection"].is_null());
}

TEST_F(RealtimeEvents, UpdateInTheFormOfTheBetaIsTaken) {
  const Json updated = answer_to(R"({"type": "transcription_session.update", "session": {"input_audio_format": "pcm16",
                    "input_audio_transcription": {"model": "tiny.en"}, "turn_detection": {"type": "server_vad"}}})");
  EXPECT_EQ(updated["type"], "transcription_session.updated");
  EXPECT_EQ(updated["session"]["audio"]["input"]["transcription"]["model"], "tiny.en");
}

TEST_F(RealtimeEvents, InvalidOnesAreNamedByWhatIsWrong) {
  EXPECT_EQ(error_of("no json")["param"], "type");
  EXPECT_EQ(error_of("[1]")["param"], "type");
  EXPECT_EQ(error_of("")["param"], "type");
  EXPECT_EQ(error_of(R"({"type": "response.create"})")["param"], "type");
  EXPECT_EQ(error_of(R"({"type": "input_audio_buffer.append"})")["param"], "audio");
  EXPECT_EQ(error_of(R"({"type": "input_audio_buffer.append", "audio": "?"})")["param"], "audio");
  EXPECT_EQ(error_of(R"({"type": "input_audio_buffer.append", "audio": "AAAA"})")["param"], "audio");
  EXPECT_EQ(error_of("\x01\x02", false)["code"], "invalid_message");
  const Json error = error_of(R"({"type": "input_audio_buffer.commit", "event_id": "mine"})");
  EXPECT_EQ(error["code"], "input_audio_buffer_commit_empty");
  EXPECT_EQ(error["event_id"], "mine");
}

TEST_F(RealtimeEvents, InvalidUpdateChangesNothing) {
  const auto param = [&](const Json& session) { return update(session)["error"]["param"]; };
  EXPECT_EQ(param(7), "session");
  EXPECT_EQ(param({{"type", "realtime"}}), "session.type");
  EXPECT_EQ(param(input_of({{"format", {{"type", "audio/pcmu"}}}})), "session.audio.input.format.type");
  EXPECT_EQ(param(input_of({{"turn_detection", nullptr}, {"format", {{"type", "audio/pcm"}, {"rate", 8000}}}})),
            "session.audio.input.format.rate");
  EXPECT_EQ(param(input_of({{"transcription", {{"model", "x"}}}})), "session.audio.input.transcription.model");
  EXPECT_EQ(param(input_of({{"transcription", {{"language", "xx"}}}})), "session.audio.input.transcription.language");
  EXPECT_EQ(param(input_of({{"turn_detection", {{"type", "semantic_vad"}}}})),
            "session.audio.input.turn_detection.type");
  const Json unchanged = update({{"type", "transcription"}});
  EXPECT_EQ(unchanged["session"]["audio"]["input"]["turn_detection"]["type"], "server_vad");
}

TEST_F(RealtimeEvents, ServiceWithoutLiveAudioIsAnError) {
  const Json append{{"type", "input_audio_buffer.append"}, {"audio", base64_of(std::string(480, '\0'))}};
  EXPECT_EQ(error_of(append.dump())["type"], "server_error");
  session_.gone();
  EXPECT_TRUE(session_.is_over());
}

TEST_F(RealtimeEvents, EndOfTheServerClosesTheSocket) {
  sessions_.finish();
  EXPECT_EQ(socket_->closed, 1001);
  EXPECT_EQ(socket_->reason, "the server is stopping");
}

TEST_F(RealtimeEvents, OneSessionIsEndedByItsId) {
  EXPECT_FALSE(sessions_.finish("live-2"));
  ASSERT_EQ(sessions_.status().size(), 1U);
  EXPECT_EQ(sessions_.status().front().client, "a client");
  EXPECT_TRUE(sessions_.finish(sessions_.status().front().id));
  EXPECT_EQ(socket_->closed, 1001);
  EXPECT_EQ(socket_->reason, "cancelled at the server");
}

TEST(LiveSessions, OneMoreThanTheMostIsRefused) {
  LiveSessions sessions(2);
  auto first = sessions.admit(""), second = sessions.admit("");
  ASSERT_TRUE(first && second);
  EXPECT_FALSE(sessions.admit(""));
  first.reset();
  EXPECT_EQ(sessions.taken(), 1U);
  EXPECT_TRUE(sessions.admit(""));
}

}  // namespace
}  // namespace tutti
