// Which methods the addresses of the API take.

#include "serve/openai/api_methods.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/files.h"

using namespace tutti;

namespace {

std::string document() {
  return read_file(TUTTI_SOURCE_DIR "/web/openapi.json").value();
}

}  // namespace

TEST(ApiMethods, AreThoseOfTheDocument) {
  const ApiMethods methods(document());
  EXPECT_EQ(methods.allowed_at("/v1/jobs"), "GET, HEAD, POST, OPTIONS");
  EXPECT_EQ(methods.allowed_at("/v1/jobs/job_17"), "GET, HEAD, DELETE, OPTIONS");
  EXPECT_EQ(methods.allowed_at("/v1/jobs/job_17/retry"), "POST, OPTIONS");
  EXPECT_EQ(methods.allowed_at("/v1/audio/transcriptions"), "POST, OPTIONS");
  EXPECT_EQ(methods.allowed_at("/livez"), "GET, HEAD, OPTIONS");
}

TEST(ApiMethods, WhatTheDocumentDoesNotHaveIsReadAlone) {
  const ApiMethods methods(document());
  EXPECT_EQ(methods.allowed_at("/"), "GET, HEAD, OPTIONS");

  EXPECT_THROW(ApiMethods("not JSON"), nlohmann::json::exception);
}
