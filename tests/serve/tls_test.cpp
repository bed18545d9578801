#include "serve/http/tls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/files.h"
#include "support/log_capture.h"
#include "support/temp_folder.h"
#include "test_certificate.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Tls : public testing::Test {
 protected:
  fs::path folder(const std::string& name) {
    fs::create_directories(folder_.path() / name);
    return folder_.path() / name;
  }
  static std::string error_of(const fs::path& certificate, const fs::path& key) {
    const auto identity = read_tls_identity({certificate, key});
    EXPECT_FALSE(identity);
    if (identity) return {};
    EXPECT_EQ(identity.error().fault, Fault::usage) << "exit code 2";
    return identity.error().text();
  }

  TempFolder folder_;
};

TEST_F(Tls, CertificateAndItsKeyAreRead) {
  const fs::path own = folder("own");
  write_certificate(own);
  EXPECT_TRUE(read_tls_identity({own / "cert.pem", own / "key.pem"}));
}

TEST_F(Tls, KeyOfAnotherCertificateIsNamed) {
  const fs::path own = folder("own"), other = folder("other");
  write_certificate(own);
  write_certificate(other);
  EXPECT_THAT(error_of(own / "cert.pem", other / "key.pem"),
              HasSubstr((other / "key.pem").string() + ": it is not the key of the first certificate in " +
                        (own / "cert.pem").string()));
}

TEST_F(Tls, FileThatIsSomethingElseIsNamedWithWhatIsExpected) {
  const fs::path own = folder("own");
  write_certificate(own);
  EXPECT_THAT(error_of(own / "key.pem", own / "key.pem"), HasSubstr("key.pem: expected certificates in PEM form"));
  EXPECT_THAT(error_of(own / "cert.pem", own / "cert.pem"), HasSubstr("cert.pem: expected a private key in PEM form"));
  EXPECT_THAT(error_of(own / "none.pem", own / "key.pem"), HasSubstr("none.pem"));
  EXPECT_THAT(error_of(own / "cert.pem", own), HasSubstr(own.string()));
  ASSERT_TRUE(
      write_file_atomically(own / "broken.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"));
  EXPECT_THAT(error_of(own / "broken.pem", own / "key.pem"), HasSubstr("broken.pem: its certificate cannot be used"));
}

TEST_F(Tls, KeyWithAPassphraseIsRefusedWithTheWayOut) {
  const fs::path own = folder("own");
  write_certificate(own, Seconds(3600), "secret");
  EXPECT_THAT(error_of(own / "cert.pem", own / "key.pem"), HasSubstr("openssl pkey -in"));
}

TEST_F(Tls, ExpiredCertificateAndOpenKeyAreWarnings) {
  const fs::path own = folder("own");
  write_certificate(own, Seconds(-3600));
  ::chmod((own / "key.pem").c_str(), 0644);
  LogCapture log;
  EXPECT_TRUE(read_tls_identity({own / "cert.pem", own / "key.pem"}));
  log.wait_for("cert.pem: the certificate has expired");
  log.wait_for("chmod 600");
}

}  // namespace
}  // namespace tutti
