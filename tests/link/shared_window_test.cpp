#include "link/shared_window.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <vector>

using namespace tutti;
using testing::HasSubstr;

namespace {

OwnedFd copy_of(int fd) {
  return OwnedFd(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
}

const std::vector<float> kValues{0.5F, -1.0F, 3.0F};

}  // namespace

TEST(SharedWindow, TheReceiverSeesTheSendersValues) {
  const auto shared = SharedWindow::create(kValues).value();
  const auto view = WindowView::map(copy_of(shared.fd()), 3);
  ASSERT_TRUE(view) << view.error().text();
  EXPECT_THAT(view->values(), testing::ElementsAreArray(kValues));
}

TEST(SharedWindow, TheViewOutlivesTheSendersDescriptor) {
  auto shared = SharedWindow::create(kValues);
  const auto view = WindowView::map(copy_of(shared->fd()), 3);
  shared = fail(Fault::missing, "closed");
  EXPECT_THAT(view->values(), testing::ElementsAreArray(kValues));
}

TEST(SharedWindow, IsImmutableAfterCreation) {
  const auto shared = SharedWindow::create(kValues).value();
  const float other = 9;
  EXPECT_EQ(::pwrite(shared.fd(), &other, sizeof other, 0), -1);
  EXPECT_EQ(::ftruncate(shared.fd(), 0), -1);
  EXPECT_EQ(::mmap(nullptr, 4, PROT_READ | PROT_WRITE, MAP_SHARED, shared.fd(), 0), MAP_FAILED);
}

TEST(SharedWindow, AnotherSizeThanAnnouncedIsRefusedWithBothSizes) {
  const auto shared = SharedWindow::create(kValues).value();
  for (const std::size_t wrong : {0, 2, 4}) {
    const auto view = WindowView::map(copy_of(shared.fd()), wrong);
    ASSERT_FALSE(view) << wrong;
    EXPECT_EQ(view.error().fault, Fault::corrupt);
    EXPECT_THAT(view.error().what, HasSubstr("found 12"));
  }
}

TEST(SharedWindow, AMemoryThatCouldStillChangeIsRefused) {
  const OwnedFd open(::memfd_create("unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(::ftruncate(open.get(), 12), 0);
  EXPECT_FALSE(WindowView::map(copy_of(open.get()), 3));
  ASSERT_EQ(::fcntl(open.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
  const auto view = WindowView::map(copy_of(open.get()), 3);
  ASSERT_FALSE(view);
  EXPECT_THAT(view.error().what, HasSubstr("sealed against every change"));
}

TEST(SharedWindow, DescriptorWithoutMemoryIsRefused) {
  EXPECT_FALSE(WindowView::map(OwnedFd(::open("/dev/null", O_RDONLY | O_CLOEXEC)), 3));
  EXPECT_FALSE(WindowView::map(OwnedFd(), 3));
}
