#include "cloud/role_credentials.h"

#include <array>
#include <ctime>
#include <filesystem>
#include <string>

#include "base/environment.h"
#include "base/files.h"
#include "base/json.h"
#include "base/strings.h"
#include "base/try.h"
#include "cloud/aws_answer.h"
#include "cloud/aws_request.h"
#include "cloud/instance_metadata.h"
#include "net/http.h"

namespace tutti {
namespace {

using Found = Result<std::optional<Credentials>>;

constexpr std::size_t kMostBytes = 1U << 20;
constexpr Seconds kFar{10};  // a service elsewhere connects within it

/// The answer of the container's and the instance's service: {"AccessKeyId", "SecretAccessKey", "Token", "Expiration"}.
Found credentials_in(const std::string& body, const std::string& source) {
  const auto json = nlohmann::json::parse(body, nullptr, false);
  if (!json.is_object() || json_text(json, "AccessKeyId").empty() || json_text(json, "SecretAccessKey").empty())
    return fail(Fault::corrupt, source + ": expected JSON with AccessKeyId and SecretAccessKey, found something else",
                "Check that the role is attached, and let it have a policy");
  return Credentials{.access_key = json_text(json, "AccessKeyId"),
                     .secret_key = json_text(json, "SecretAccessKey"),
                     .session_token = json_text(json, "Token"),
                     .expires = aws_time(json_text(json, "Expiration")),
                     .source = source};
}

tl::unexpected<Error> no_answer(const std::string& source, const HttpReply& reply) {
  const std::string why = reply.failure.empty() ? "status " + std::to_string(reply.status) : reply.failure;
  return fail(Fault::unavailable, source + ": no credentials came: " + why, "Check that the role is attached");
}

/// Where a container's credentials may be fetched from without encryption: this machine, ECS and EKS.
bool is_near(const std::string& url) {
  const std::string host = host_of_origin(origin_of(url));
  constexpr std::array kHosts{"127.0.0.1", "localhost", "[::1]", "169.254.170.2", "169.254.170.23", "[fd00:ec2::23]"};
  for (const std::string_view near : kHosts)
    if (host == near || host.starts_with(std::string(near) + ":")) return true;
  return false;
}

/// The Authorization header that the container's service expects; empty: none.
Result<std::string> container_token() {
  if (const auto file = variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE")) {
    const auto text = TRY(read_file(*file));
    return std::string(trimmed(text));
  }
  return variable("AWS_CONTAINER_AUTHORIZATION_TOKEN").value_or("");
}

struct Login {
  std::string token{};
  std::chrono::system_clock::time_point expires{};
};

/// The login to that address which lasts longest. Files of other kinds lie in the folder, too.
std::optional<Login> latest_login(const std::string& start_url) {
  std::optional<Login> latest;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(sso_cache_folder(), error)) {
    if (entry.path().extension() != ".json") continue;
    const auto json = nlohmann::json::parse(read_regular_file(entry.path()).value_or(""), nullptr, false);
    if (!json.is_object() || json_text(json, "startUrl") != start_url || json_text(json, "accessToken").empty())
      continue;
    const auto expires = aws_time(json_text(json, "expiresAt"));
    if (expires && (!latest || *expires > latest->expires)) latest = Login{json_text(json, "accessToken"), *expires};
  }
  return latest;
}

}  // namespace

std::optional<std::chrono::system_clock::time_point> aws_time(std::string_view text) {
  std::tm parts{};
  const std::string copy(text.substr(0, 19));
  const char* end = ::strptime(copy.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  if (!end || *end != '\0' || copy.size() != 19) return std::nullopt;
  return std::chrono::system_clock::from_time_t(::timegm(&parts));
}

Found web_identity_credentials(const std::string& region, const std::function<bool()>& go_on) {
  const auto file = variable("AWS_WEB_IDENTITY_TOKEN_FILE"), role = variable("AWS_ROLE_ARN");
  if (!file || !role) return std::nullopt;
  const auto token = TRY(read_file(*file));
  auto http = TRY(Http::load());
  const std::string session = variable("AWS_ROLE_SESSION_NAME").value_or("tutti");
  const std::string source = "the role " + *role;
  const auto answer = http.answer(
      {.url = service_origin("sts", region, "") + "/",
       .headers = {"Content-Type: application/x-www-form-urlencoded"},
       .body = "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=" + percent_encoded(*role) +
               "&RoleSessionName=" + percent_encoded(session) + "&WebIdentityToken=" + percent_encoded(trimmed(token)),
       .connect_within = kFar},
      kMostBytes, go_on);
  if (answer.reply.status != 200 || !answer.reply.failure.empty())
    return tl::unexpected(aws_error(answer, source, region, "the web identity").error);
  return Credentials{.access_key = xml_text(answer.body, "AccessKeyId"),
                     .secret_key = xml_text(answer.body, "SecretAccessKey"),
                     .session_token = xml_text(answer.body, "SessionToken"),
                     .expires = aws_time(xml_text(answer.body, "Expiration")),
                     .source = source};
}

Found container_credentials(const std::function<bool()>& go_on) {
  const auto relative = variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
  const auto full = variable("AWS_CONTAINER_CREDENTIALS_FULL_URI");
  if (!relative && !full) return std::nullopt;
  const std::string url = relative ? "http://169.254.170.2" + *relative : *full, source = "the container's role";
  if (!url.starts_with("https://") && !is_near(url))
    return fail(
        Fault::refused,
        "AWS_CONTAINER_CREDENTIALS_FULL_URI: expected https or this machine, found " + without_controls(origin_of(url)),
        "Credentials are not fetched over an open network");
  auto http = TRY(Http::load());
  const auto token = TRY(container_token());
  HttpRequest request = near_request(url);
  if (!token.empty()) request.headers.push_back("Authorization: " + token);
  const auto answer = http.answer(request, kMostBytes, go_on);
  if (answer.reply.status != 200 || !answer.reply.failure.empty()) return no_answer(source, answer.reply);
  return credentials_in(answer.body, source);
}

Found instance_credentials(const std::function<bool()>& go_on) {
  auto instance = InstanceMetadata::open(go_on);
  if (!instance) return std::nullopt;
  const std::string source = "the instance's role", roles = "iam/security-credentials/";
  const auto role = instance->get(roles);
  if (role.reply.status == 404) return std::nullopt;  // an instance without a role
  if (role.reply.status != 200 || !role.reply.failure.empty()) return no_answer(source, role.reply);
  const std::string name(trimmed(role.body.substr(0, role.body.find('\n'))));
  const auto answer = instance->get(roles + percent_encoded(name));
  if (answer.reply.status != 200 || !answer.reply.failure.empty()) return no_answer(source, answer.reply);
  return credentials_in(answer.body, source + " " + name);
}

Result<std::optional<Credentials>> sso_credentials(const AwsProfile& profile, const std::function<bool()>& go_on) {
  const std::string source = "profile " + profile.name, log_in = "Run 'AWS_PROFILE=" + profile.name + " aws sso login'";
  for (const char* needed : {"sso_start_url", "sso_region", "sso_role_name"})
    if (profile.value(needed).empty())
      return fail(Fault::usage, source + ": it has sso_account_id, but no " + needed, "Run 'aws configure sso'");
  const auto login = latest_login(profile.value("sso_start_url"));
  if (!login) return fail(Fault::refused, source + ": there is no login to " + profile.value("sso_start_url"), log_in);
  if (login->expires <= std::chrono::system_clock::now())
    return fail(Fault::refused, source + ": the login to " + profile.value("sso_start_url") + " has expired", log_in);

  auto http = TRY(Http::load());
  const std::string region = profile.value("sso_region");
  const AwsRequest request{
      .origin = service_origin("portal.sso", region, ""),
      .path = "/federation/credentials",
      .query = {{"account_id", profile.value("sso_account_id")}, {"role_name", profile.value("sso_role_name")}}};
  const auto answer = http.answer({.url = request.origin + target_of(request),
                                   .headers = {"x-amz-sso_bearer_token: " + login->token},
                                   .connect_within = Seconds(10)},
                                  kMostBytes, go_on);
  if (answer.reply.status == 401) return fail(Fault::refused, source + ": the login is not accepted any more", log_in);
  if (answer.reply.status != 200 || !answer.reply.failure.empty())
    return tl::unexpected(aws_error(answer, source, region, "the login").error);
  const auto json = nlohmann::json::parse(answer.body, nullptr, false);
  const auto role = json.is_object() ? json.value("roleCredentials", nlohmann::json()) : nlohmann::json();
  if (!role.is_object() || json_text(role, "accessKeyId").empty())
    return fail(Fault::corrupt,
                source + ": expected roleCredentials from " + request.origin + ", found something else");
  Credentials credentials{.access_key = json_text(role, "accessKeyId"),
                          .secret_key = json_text(role, "secretAccessKey"),
                          .session_token = json_text(role, "sessionToken"),
                          .source = source};
  if (const auto expires = role.find("expiration"); expires != role.end() && expires->is_number_integer())
    credentials.expires =
        std::chrono::system_clock::time_point(std::chrono::milliseconds(expires->get<std::int64_t>()));
  return credentials;
}

}  // namespace tutti
