# A module for the mail relay.
{ config, lib, pkgs, ... }:

with lib;

let
  cfg = config.services.relay;

  # Renders the settings as text.
  toText = settings: concatStrings (mapAttrsToList (k: v: "${k}=${v}\n") settings);

  mkUser = name: { uid, shell ? pkgs.bash }:
    let
      home = "/var/lib/${name}";
    in {
      inherit uid shell home;
    };

  defaults = {
    port = 25;
    nested = { deep = true; };
  };
  configFile = pkgs.writeText "relay.conf" (toText cfg.settings);
  inherit (lib.types) int str;
in
{
  meta.maintainers = [ "me" ];

  options.services.relay = {
    enable = mkEnableOption "the relay";

    package = lib.mkPackageOption pkgs "relay" { };

    port = lib.mkOption {
      type = types.port;
      default = 25;
      description = "Port to listen on.";
    };
  };

  config = mkIf cfg.enable {
    systemd.services.relay = {
      wantedBy = [ "multi-user.target" ];
      serviceConfig = rec {
        ExecStart = "${cfg.package}/bin/relay";
        Restart = "always";
      };
    };
    users.users."relay" = mkUser "relay" { uid = 400; };
  };

  passthru.overlay = final: prev: { relay = final.callPackage ./relay.nix { }; };
}
