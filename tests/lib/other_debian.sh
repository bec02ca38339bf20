# shellcheck shell=bash
# For bash, sourced: packages of another release of Debian, fetched by apt with a state of its own and unpacked into a
# folder. Nothing of this system changes: neither its sources nor its lists, and nothing is installed. No root is needed.
#
#	other_begin FOLDER [SUITE]   FOLDER is made; SUITE: trixie, or bookworm on a system that is trixie
#	other_package PATTERN        the newest versioned package behind a name, as linux-image-6.12.1-cloud-amd64
#	other_unpack PACKAGE…        fetches them with all they need, and unpacks them into FOLDER
#	other_version PACKAGE
other_die() { echo "${0##*/}: $*" >&2; exit 1; }

# The archive that this system takes its packages from; the public one where that is not Debian's.
other_archive() {
	local uri
	uri=$(apt-get indextargets --format '$(REPO_URI)' 2>/dev/null | grep -E '^(https?|file|copy)://?.*/debian/?$' | head -n 1)
	echo "${uri:-http://deb.debian.org/debian}"
}

other_begin() {
	local system keyring=/usr/share/keyrings/debian-archive-keyring.gpg program
	for program in apt-get dpkg-deb; do
		command -v $program >/dev/null || other_die "$program is missing: this works where apt is"
	done
	[ -r $keyring ] || other_die "$keyring is missing (package debian-archive-keyring)"
	mkdir -p "$1" || exit 1
	other_folder=$(cd "$1" && pwd)
	system=$(. /etc/os-release && echo "${VERSION_CODENAME-}")
	other_suite=${2:-$([ "$system" = trixie ] && echo bookworm || echo trixie)}
	other_apt=$(mktemp -d)
	trap 'rm -rf "$other_apt"' EXIT
	mkdir -p "$other_apt"/{lists,cache/archives}/partial "$other_apt"/none
	: >"$other_apt/status"
	# A line for each suite that is named, as "bookworm bookworm-backports".
	for suite in $other_suite; do
		echo "deb [signed-by=$keyring] $(other_archive) $suite main"
	done >"$other_apt/sources.list"
	# On top of the system's own settings, so that a proxy of theirs is used. _apt may not write into our folder.
	cat >"$other_apt/apt.conf" <<END
Dir::State "$other_apt";
Dir::State::status "$other_apt/status";
Dir::State::lists "$other_apt/lists";
Dir::Cache "$other_apt/cache";
Dir::Etc::sourcelist "$other_apt/sources.list";
Dir::Etc::sourceparts "$other_apt/none";
Dir::Etc::preferencesparts "$other_apt/none";
APT::Sandbox::User "$(id -un)";
Acquire::Languages "none";
Debug::NoLocking "1";
END
	export APT_CONFIG=$other_apt/apt.conf
	apt-get -qq update >&2 || other_die "the package lists of $other_suite cannot be fetched from $(other_archive)"
}

other_package() {
	apt-cache depends "$1" | sed -n 's/^ *Depends: *\([^ <>]*-[0-9][^ ]*\)$/\1/p' | head -n 1
}

other_version() { apt-cache show "$1" | sed -n 's/^Version: //p' | head -n 1; }

other_unpack() {
	local deb
	apt-get -qq install --download-only --no-install-recommends -y "$@" >/dev/null ||
		other_die "$* of $other_suite cannot be fetched"
	for deb in "$other_apt"/cache/archives/*.deb; do
		dpkg-deb -x "$deb" "$other_folder" || other_die "$deb cannot be unpacked into $other_folder"
	done
	rm -f "$other_apt"/cache/archives/*.deb
}
