#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# init of the initramfs: loads modules, mounts the disks and starts guest.sh. If that fails, the kernel panics and qemu exits.
/bin/busybox --install -s /bin
mount -t proc none /proc
mount -t devtmpfs none /dev
for module in /modules/*.ko; do
	insmod "$module" || echo "machine: cannot load $module"
done
i=0
while [ ! -b /dev/vdb ] && [ $((i += 1)) -lt 50 ]; do sleep 0.2; done
mount -t ext4 /dev/vda /disk && mount -t ext4 /dev/vdb /disk/cpprof || echo "machine: no disk"
mount --move /dev /disk/dev
umount /proc
exec switch_root /disk /bin/bash /cpprof/source/tests/machine/guest.sh
