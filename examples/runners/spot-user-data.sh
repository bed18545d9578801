#!/bin/bash
# User data of a spot instance (any image of Debian or Ubuntu with the driver of its GPU): it installs Tutti where it is missing, starts a
# remote runner on a queue of SQS, and ends with it. Fill in the settings, then:
#   aws ec2 run-instances --instance-type g6.xlarge --image-id ami-… --iam-instance-profile Name=tutti-worker \
#     --instance-market-options 'MarketType=spot' --instance-initiated-shutdown-behavior terminate --user-data file://spot-user-data.sh
# 'terminate' matters: without it an instance that has shut down keeps its disk, and the disk's bill. The profile's role may receive,
# change and delete messages of the queue, and get and put objects of the bucket.
set -euo pipefail

export TUTTI_QUEUE_URL=${TUTTI_QUEUE_URL:-https://sqs.us-east-1.amazonaws.com/123456789012/jobs}
export TUTTI_S3_BUCKET=${TUTTI_S3_BUCKET:-talks}
export TUTTI_MODEL=${TUTTI_MODEL:-large-v3}
# What 'make install DESTDIR=/tmp/tutti && tar -C /tmp/tutti -czf tutti.tar.gz .' has made.
PACKAGE=${PACKAGE:-s3://talks/software/tutti.tar.gz}
LOGS=${LOGS:-/var/log/tutti}
# Of the instance: where there is a local SSD, its mount point is better.
STATE=${STATE:-/var/lib/tutti}
IDLE_MINUTES=${IDLE_MINUTES:-5}

# An instance that could not start costs as much as one that works. So unless an idle end has scheduled its shutdown, whatever ends this
# script ends the machine, too, after a quarter of an hour to look at it.
SCHEDULED=${SCHEDULED:-/run/systemd/shutdown/scheduled}
end_machine() {
  if [[ ! -e $SCHEDULED ]]; then
    echo "the runner ended, and not because it was idle: shutdown in 15 minutes; 'shutdown -c' keeps the machine" >&2
    shutdown -h +15
  fi
}
trap end_machine EXIT

# Without a home folder, as cloud-init starts it.
export HOME=${HOME:-/root} TUTTI_CACHE=${TUTTI_CACHE:-$STATE/cache}

if ! command -v tutti >/dev/null; then
  apt-get update -q
  DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends awscli ffmpeg libcurl4 libsndfile1
  aws s3 cp "$PACKAGE" /tmp/tutti.tar.gz
  tar -C / -xzf /tmp/tutti.tar.gz
  ldconfig
fi
if [[ ! -e $TUTTI_MODEL ]]; then tutti pull "$TUTTI_MODEL"; fi

# The runner looks for the notice that a spot instance gets. A GPU that is not in sight or does not work ends it.
tutti worker --idle-timeout "$IDLE_MINUTES" --on-idle 'shutdown -h +1' --log-dir "$LOGS" --state "$STATE"
