#include "link/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace tutti;
using namespace std::chrono_literals;
using testing::HasSubstr;

namespace {

const Clock::Instant kStart = Clock::Instant{} + 1h;

SessionTerms terms() {
  return {.build_id = "b1", .device_uuid = "GPU-1", .model = {.model_path = "/m"}, .load_limit = Seconds(60)};
}

Session session() {
  return Session(terms(), kStart);
}

Session serving() {
  Session session(terms(), kStart);
  session.on_message(Hello{.build_id = "b1", .device_uuid = "GPU-1"}, kStart);
  session.on_message(Ready{.slots = 4}, kStart);
  return session;
}

}  // namespace

TEST(Session, AGoodHelloIsAnsweredWithTheModelAndReadyOpensTheService) {
  Session at = session();
  const Reaction greeting = at.on_message(Hello{.build_id = "b1", .device_uuid = "GPU-1"}, kStart);
  ASSERT_TRUE(greeting.reply);
  EXPECT_EQ(*greeting.reply, ToWorker(LoadModel{.model_path = "/m"}));
  EXPECT_FALSE(at.ready());
  const Reaction loaded = at.on_message(Ready{.slots = 4}, kStart + 5s);
  EXPECT_FALSE(loaded.ending);
  ASSERT_TRUE(at.ready());
  EXPECT_EQ(at.ready()->slots, 4);
}

TEST(Session, OtherEngineNeedNotKnowItsDevice) {
  SessionTerms other = terms();
  other.is_other = true;
  EXPECT_TRUE(Session(other, kStart).on_message(Hello{.build_id = "b1"}, kStart).reply);
  const Hello elsewhere{.build_id = "b1", .device_uuid = "GPU-2"};
  EXPECT_TRUE(Session(other, kStart).on_message(elsewhere, kStart).ending);
}

TEST(Session, ForeignWorkerIsRejectedForGoodNamingBoth) {
  struct Case {
    Hello hello;
    std::string reports;
  };
  const std::vector<Case> cases{{{.protocol = 77, .build_id = "b1", .device_uuid = "GPU-1"}, "protocol 77, expected"},
                                {{.build_id = "b2", .device_uuid = "GPU-1"}, "build 'b2', expected 'b1'"},
                                {{.build_id = "b1", .device_uuid = "GPU-2"}, "device 'GPU-2', expected 'GPU-1'"},
                                {{.build_id = "b1", .device_uuid = ""}, "device '', expected 'GPU-1'"}};
  for (const auto& [hello, reports] : cases) {
    const auto ending = session().on_message(hello, kStart).ending;
    ASSERT_TRUE(ending) << reports;
    EXPECT_TRUE(ending->final) << reports;
    EXPECT_THAT(ending->error.what, HasSubstr(reports));
    EXPECT_FALSE(ending->error.hint.empty());
  }
}

TEST(Session, WithoutRequestedDeviceTheWorkerMayNameAny) {
  SessionTerms any = terms();
  any.device_uuid.clear();
  EXPECT_TRUE(Session(any, kStart).on_message(Hello{.build_id = "b1", .device_uuid = "GPU-7"}, kStart).reply);
}

TEST(Session, ASliceOfACardIsItselfUnderBothOfItsNames) {
  SessionTerms slice = terms();
  slice.device_uuid = "MIG-6e0af2c8-1";
  EXPECT_TRUE(
      Session(slice, kStart).on_message(Hello{.build_id = "b1", .device_uuid = "GPU-6e0af2c8-1"}, kStart).reply);
  EXPECT_FALSE(
      Session(slice, kStart).on_message(Hello{.build_id = "b1", .device_uuid = "GPU-6e0af2c8-2"}, kStart).reply);
}

TEST(Session, AFaultWhileLoadingIsFinalUnlessTryingAgainCouldHelp) {
  const auto decision = [](Fault fault) {
    Session at = session();
    at.on_message(Hello{.build_id = "b1", .device_uuid = "GPU-1"}, kStart);
    return at.on_message(Failed{.fault = fault, .what = "why"}, kStart).ending.value();
  };
  for (const Fault fault : {Fault::missing, Fault::corrupt, Fault::unsupported, Fault::refused, Fault::usage})
    EXPECT_TRUE(decision(fault).final) << static_cast<int>(fault);
  for (const Fault fault : {Fault::device, Fault::internal, Fault::exhausted})
    EXPECT_FALSE(decision(fault).final) << static_cast<int>(fault);
  EXPECT_EQ(decision(Fault::missing).error.what, "why");
}

TEST(Session, AFaultOfTheWholeWorkerInServiceCallsForAnotherWorker) {
  Session at = serving();
  const auto ending = at.on_message(Failed{.fault = Fault::corrupt, .what = "CUDA context is lost"}, kStart).ending;
  ASSERT_TRUE(ending);
  EXPECT_FALSE(ending->final);
}

TEST(Session, AnswersReachTheWindowTableOnlyInService) {
  const std::vector<ToControl> answers{Opened{.window = 1}, Language{.window = 1}, Decoded{.window = 1},
                                       Failed{.window = 1}};
  for (const ToControl& answer : answers) {
    EXPECT_EQ(serving().on_message(answer, kStart).worker_answer, answer);
    const auto early = session().on_message(answer, kStart);
    ASSERT_TRUE(early.ending);
    EXPECT_THAT(early.ending->error.what, HasSubstr("expected Hello"));
    EXPECT_FALSE(early.ending->final);
  }
}

TEST(Session, MessagesOutOfTheirOrderEndIt) {
  EXPECT_TRUE(session().on_message(Ready{}, kStart).ending);
  EXPECT_TRUE(serving().on_message(Ready{}, kStart).ending);
  EXPECT_TRUE(serving().on_message(Hello{}, kStart).ending);
  EXPECT_TRUE(serving().on_message(Pong{5}, kStart).ending);
}

TEST(Session, LoadingHasItsLimitAndServiceItsHeartbeat) {
  Session at = session();
  EXPECT_EQ(at.wake_at(), kStart + 60s);
  EXPECT_FALSE(at.tick(kStart + 59s).ending);
  EXPECT_THAT(at.tick(kStart + 60s).ending.value().error.what, HasSubstr("was not ready within 60 s"));

  Session in_service = serving();
  EXPECT_EQ(in_service.wake_at(), kStart + 250ms);
  EXPECT_TRUE(in_service.tick(kStart + 250ms).reply);
  EXPECT_FALSE(in_service.tick(kStart + 999ms).ending);
  const auto hung = in_service.tick(kStart + 1s).ending;
  ASSERT_TRUE(hung);
  EXPECT_THAT(hung->error.what, HasSubstr("has hung: no sign of life for 1 s"));
  EXPECT_FALSE(hung->final);
}

TEST(Session, UnderADebuggerNothingIsTimed) {
  SessionTerms untimed = terms();
  untimed.timed = false;
  Session at(untimed, kStart);
  EXPECT_EQ(at.wake_at(), Clock::Instant::max());
  at.on_message(Hello{.build_id = "b1", .device_uuid = "GPU-1"}, kStart);
  at.on_message(Ready{}, kStart + 10h);
  const Reaction much_later = at.tick(kStart + 20h);
  EXPECT_FALSE(much_later.reply || much_later.ending);
}
