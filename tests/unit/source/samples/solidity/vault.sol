// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {IERC20} from "./IERC20.sol";

/// @notice Basis points in one whole.
uint256 constant BASIS = 10_000;

type Shares is uint128;
using {addShares as +} for Shares global;

error NotAllowed(address who);
event Deployed(address indexed vault, address by);

function addShares(Shares a, Shares b) pure returns (Shares) {
    return Shares.wrap(Shares.unwrap(a) + Shares.unwrap(b));
}

interface IVault {
    event Deposited(address indexed owner, uint256 assets);

    /// @dev Pulls the assets from the caller.
    function deposit(uint256 assets) external returns (uint256 shares);
    function deposit(uint256 assets, address receiver) external returns (uint256);
}

library Fees {
    struct Tier { uint256 from; uint16 bps; }

    function take(uint256 amount, uint16 bps) internal pure returns (uint256) {
        return (amount * bps) / BASIS;
    }
}

/**
 * @title Vault
 * @notice Keeps one asset for many owners.
 */
abstract contract Vault is IVault {
    using Fees for uint256;

    enum State { Open, Paused }

    struct Position {
        uint256 shares;
        uint64 since;
    }

    uint16 public constant MAX_FEE = 500;
    IERC20 public immutable asset;
    mapping(address owner => Position) internal _positions;
    State public state = State.Open; address private _keeper;
    Fees.Tier[] tiers;

    error ZeroAmount();

    /// Only the keeper may pass.
    modifier onlyKeeper() virtual {
        if (msg.sender != _keeper) revert NotAllowed(msg.sender);
        _;
    }

    modifier whenOpen { require(state == State.Open, "paused"); _; }

    constructor(IERC20 asset_, address keeper) {
        asset = asset_;
        _keeper = keeper;
    }

    receive() external payable { revert(); }

    fallback(bytes calldata input) external payable returns (bytes memory) {
        return input;
    }

    /// @inheritdoc IVault
    function deposit(uint256 assets)
        external
        override
        whenOpen
        returns (uint256 shares)
    {
        uint256 fee = assets.take(MAX_FEE);
        shares = _mint(msg.sender, assets - fee);
    }

    // Deposits for somebody else.
    function deposit(uint256 assets, address receiver) external override returns (uint256) {
        return _mint(receiver, assets);
    }

    function totalAssets() public view virtual returns (uint256);

    function _mint(address to, uint256 amount) private returns (uint256 minted) {
        if (amount == 0) revert ZeroAmount();
        unchecked { _positions[to].shares += amount; }
        assembly { minted := amount }
    }
}

contract Empty {}
